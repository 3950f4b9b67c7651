// Gives each lot of raw amber a code for its seal, and keeps the lot under the key of its call.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const LETTERS = '23456789BCDFGHJKLMNPQRSTVWXZ';
const entry = (id) => `lot/${id}`;

/** Returns the lot that an earlier try has stored, if there is one. */
function stored(id) {
  try {
    return JSON.parse(kv.text(entry(id)));
  } catch {
    return undefined;
  }
}

/** A code of eight letters that cannot be guessed from the codes of other lots. */
function code() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
}

function registered(id, { seal, registered_at: at }) {
  return new Output(
    { id, seal, registered_at: at },
    { receipt: { seal }, changes: [{ resourceType: 'amber-lot', resourceId: id, operation: 'create', version: seal }] },
  );
}

tool(
  'Amber.Register',
  {
    description: 'Registers a lot of raw amber and gives it a seal.',
    input: object({
      finder: string({ minLength: 1, maxLength: 100 }),
      beach: string({ minLength: 1, maxLength: 100 }),
      grade: oneOf('clear', 'cloudy', 'bone', 'mixed'),
      grams: integer({ minimum: 1, maximum: 500000 }),
    }),
    output: object({ id: string(), seal: string(), registered_at: string() }),
    effects: ['internal_write'],
    // A repetition finds the lot of the first try and keeps its seal and its time.
    idempotentByKeySeconds: 604800,
  },
  ({ finder, beach, grade, grams }, context) => {
    if (grade === 'mixed' && grams < 50) throw new Failure('INVALID_INPUT', 'a mixed lot has at least 50 g');
    const id = context.externalKey;
    const earlier = stored(id);
    if (earlier !== undefined) return registered(id, earlier);
    const lot = { finder, beach, grade, grams, seal: code(), registered_at: new Date().toISOString() };
    kv.set(entry(id), JSON.stringify(lot));
    return registered(id, lot);
  },
);
