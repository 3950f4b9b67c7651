import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const entryOf = (key) => `donation:${key}`;

function change(key, operation, version) {
  return { resourceType: 'donation', resourceId: entryOf(key), operation, version };
}

/** Text of the entry of a donation. */
function recordOf({ donor, items }, { grams, received_at }) {
  return JSON.stringify({ donor, items, grams, received_at });
}

/** Answer of the call that wrote this entry. The entry has all of it, so every try answers the same. */
function received(key, text) {
  const { received_at, grams } = JSON.parse(text);
  return new Output(
    { donation: key, received_at, grams },
    { receipt: { donation: key, received_at }, changes: [change(key, 'create', text)] },
  );
}

/** The day as a time, or undefined if the calendar does not have the day. */
function timeOf(day) {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === day ? time : undefined;
}

tool(
  'Donation.Receive',
  {
    description: 'Records a donation to the food bank.',
    input: object({
      donor: string({ minLength: 1, maxLength: 120 }),
      items: array(
        object({
          what: string({ minLength: 1, maxLength: 80 }),
          grams: integer({ minimum: 1, maximum: 1000000 }),
          best_before: optional(string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' })),
        }),
        { minItems: 1, maxItems: 20 },
      ),
    }),
    output: object({ donation: string(), received_at: string(), grams: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 2 * 24 * 3600,
    reconcile: (args, key) => {
      const text = kv.text(entryOf(key));
      return text === undefined ? 'did-not-happen' : happened(received(key, text));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the donation is not recorded any more';
      return text === version || `the record has another text of ${text.length} characters`;
    },
    compensate: (args, result, key) => {
      const text = kv.text(entryOf(key));
      if (text === undefined) throw new Failure('POLICY_DENIED', 'the donation is not recorded any more');
      if (text !== recordOf(args, result)) throw new Failure('POLICY_DENIED', 'the record of the donation was changed');
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the donation was removed by another party');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ donor, items }, context) => {
    const key = context.externalKey;
    // A repetition may come on a later day. The entry of the first try counts, also if food has expired since.
    const earlier = kv.text(entryOf(key));
    if (earlier !== undefined) return received(key, earlier);

    const now = Date.now();
    for (const { what, best_before } of items) {
      if (best_before === undefined) continue;
      const end = timeOf(best_before);
      if (end === undefined) throw new Failure('INVALID_INPUT', `there is no day ${best_before}`);
      if (end + 24 * 3600_000 <= now) throw new Failure('INVALID_INPUT', `${what} has expired on ${best_before}`);
    }

    const grams = items.reduce((sum, item) => sum + item.grams, 0);
    const text = recordOf({ donor, items }, { grams, received_at: new Date(now).toISOString() });
    kv.set(entryOf(key), text);
    return received(key, text);
  },
);
