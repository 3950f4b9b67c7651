// Keeps the toll book of a canal.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, oneOf, string } = schema;

const DAY = 24 * 60 * 60;
const PAUSE_MS = 60000;

/** Toll of one lock in cents, by the class of the boat. */
const CENTS = { canoe: 0, narrowboat: 450, barge: 1800 };

const nameOf = (key) => `toll/${key}`;
const line = ({ boat, kind, locks }) => JSON.stringify({ boat, kind, locks, cents: CENTS[kind] * locks });

tool(
  'Toll.Record',
  {
    description: 'Records the toll of a boat in the toll book.',
    input: object({
      boat: string({ minLength: 1, maxLength: 60 }),
      kind: oneOf('canoe', 'narrowboat', 'barge'),
      locks: integer({ minimum: 0, maximum: 60 }),
    }),
    output: object({ entry: string(), cents: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3 * DAY,
    verify: ({ resourceId }) => kv.get(resourceId) !== undefined || `the book has no ${resourceId}`,
  },
  (args, context) => {
    if (args.locks === 0) throw new Failure('INVALID_INPUT', `${args.boat} passed no lock`);
    const entry = nameOf(context.externalKey);
    // The first try writes the line, and a further try answers for it.
    if (context.triesBefore === 0) {
      if (kv.text('balancing') === 'yes') {
        throw new Failure('DEPENDENCY_UNAVAILABLE', 'the book is closed while it is balanced', {
          retryAfterMs: PAUSE_MS,
          applied: 'no',
        });
      }
      kv.set(entry, line(args));
    }
    return new Output(
      { entry, cents: CENTS[args.kind] * args.locks },
      { changes: [{ resourceType: 'toll', resourceId: entry, operation: 'create' }] },
    );
  },
);

tool(
  'Book.Balance',
  {
    description: 'Closes the toll book while the day is balanced, or opens it again.',
    input: object({ balancing: boolean() }),
    output: object({ balancing: boolean() }),
    effects: ['internal_write'],
  },
  ({ balancing }) => {
    kv.set('balancing', balancing ? 'yes' : 'no');
    return { balancing };
  },
);
