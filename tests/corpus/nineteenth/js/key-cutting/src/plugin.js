// Keeps the orders for copies of keys in a workshop.

import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const THREE_DAYS = 3 * 24 * 3600;

/** Profiles that need the card of the owner. */
const GUARDED = ['dimple', 'magnetic'];

const entry = (id) => `cut/${id}`;

tool(
  'Key.Order',
  {
    description: 'Orders copies of a key.',
    input: object({
      profile: oneOf('flat', 'cross', 'dimple', 'magnetic'),
      code: string({ pattern: '^[0-9]{4,8}$' }),
      copies: integer({ minimum: 1, maximum: 20 }),
      card: string({ maxLength: 30 }),
    }),
    output: object({ order: string(), profile: string(), copies: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: THREE_DAYS,
  },
  (args, context) => {
    if (GUARDED.includes(args.profile) && args.card === '') {
      throw new Failure('AUTH_FORBIDDEN', `copies of a ${args.profile} key need the card of the owner`);
    }
    const id = context.externalKey;
    // The first try writes the order with its time. A later try leaves it as it is.
    if (context.triesBefore === 0) {
      kv.set(entry(id), JSON.stringify({ ...args, ordered: new Date().toISOString() }));
    }
    console.log(`${args.copies} copies of a ${args.profile} key`);
    return { order: id, profile: args.profile, copies: args.copies };
  },
);

tool(
  'Key.Sheet',
  {
    description: 'Returns the work sheet of an order.',
    input: object({ order: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ profile: string(), code: string(), copies: integer(), ordered: string() }),
    effects: ['read_only'],
  },
  ({ order }) => {
    const kept = kv.text(entry(order));
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no order ${order}`);
    const { profile, code, copies, ordered } = JSON.parse(kept);
    return { profile, code, copies, ordered };
  },
);
