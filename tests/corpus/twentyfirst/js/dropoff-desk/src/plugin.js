import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const DAYS = { letter: 7, parcel: 14, bulky: 3 };

// Seconds are kept in the map, because the shelf display counts in seconds.
const seconds = (time) => Math.floor(time.getTime() / 1000);

function ticket(key, entry, received) {
  const keepUntil = new Date((entry.at + DAYS[entry.kind] * 86_400) * 1000).toISOString().slice(0, 10);
  return new Output(
    { ticket: key, shelf: entry.shelf, received: received.toISOString(), keep_until: keepUntil },
    {
      receipt: { ticket: key },
      changes: [{ resourceType: 'dropoff', resourceId: key, operation: 'create', version: String(entry.at) }],
    },
  );
}

// Bulky things lie on the floor, everything else on the shelf of its first letter.
function shelfFor(kind, owner) {
  if (kind === 'bulky') return 'floor';
  const letter = owner[0].toUpperCase();
  return /^[A-Z]$/.test(letter) ? letter : 'other';
}

const find = (key) => {
  const text = kv.text(key);
  return text === undefined ? undefined : JSON.parse(text);
};

tool(
  'Dropoff.Accept',
  {
    description: 'Accepts a thing that is left at the desk, and assigns a shelf to it.',
    input: object({
      owner: string({ minLength: 1, maxLength: 80 }),
      kind: oneOf('letter', 'parcel', 'bulky'),
      grams: integer({ minimum: 1, maximum: 100_000 }),
    }),
    output: object({ ticket: string(), shelf: string(), received: string(), keep_until: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const entry = find(key);
      return entry === undefined ? 'did-not-happen' : happened(ticket(key, entry, new Date(entry.at * 1000)));
    },
    compensate: (args, result, key) => {
      if (!kv.delete(key)) throw new Failure('POLICY_DENIED', 'the thing is not at the desk any more');
      return new Output(null, { changes: [{ resourceType: 'dropoff', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ owner, kind, grams }, { externalKey }) => {
    const name = owner.trim();
    if (name === '') throw new Failure('INVALID_INPUT', 'the owner has no name');
    if (kind === 'letter' && grams > 1000) throw new Failure('INVALID_INPUT', 'a letter has at most 1000 g');
    const now = new Date();
    const entry = { owner: name, kind, grams, shelf: shelfFor(kind, name), at: seconds(now) };
    kv.set(externalKey, JSON.stringify(entry));
    return ticket(externalKey, entry, now);
  },
);
