// Boat shed: the harbour desk holds a dinghy for a guest who is on the way.

import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, nullable } = schema;

const MINUTE = 60_000;

const slipOf = (key) => `hold/${key}`;

/** Returns the hold of a slip that is still running at `now`, else undefined. */
function running(key, now) {
  const text = kv.text(slipOf(key));
  if (text === undefined) return undefined;
  const hold = JSON.parse(text);
  return Date.parse(hold.until) > now ? hold : undefined;
}

function answer(key, hold) {
  return { hold: key, dinghy: hold.dinghy, until: hold.until };
}

tool(
  'Dinghy.Hold',
  {
    description: 'Holds a dinghy for a guest for some minutes.',
    input: object({
      dinghy: string({ minLength: 1, maxLength: 60 }),
      guest: string({ minLength: 1, maxLength: 120 }),
      minutes: integer({ minimum: 5, maximum: 240 }),
      remarks: string({ maxLength: 2000 }),
    }),
    output: object({ hold: string(), dinghy: string(), until: string() }),
    effects: ['internal_write'],
    // The slip is named by the key of the call, so a repetition finds the slip that the first try wrote.
    idempotentByKeySeconds: 24 * 60 * 60,
  },
  (args, context) => {
    if (args.guest.trim() === '') throw new Failure('INVALID_INPUT', 'the guest has no name');
    const now = Date.now();
    const key = context.externalKey;
    const earlier = running(key, now);
    if (earlier !== undefined) return answer(key, earlier);
    const until = new Date(now + args.minutes * MINUTE).toISOString();
    const hold = { dinghy: args.dinghy, guest: args.guest.trim(), until, remarks: args.remarks };
    kv.set(slipOf(key), JSON.stringify(hold));
    return answer(key, hold);
  },
);

tool(
  'Dinghy.ShowHold',
  {
    description: 'Shows a hold: the guest, and until when the dinghy stays at the pier.',
    input: object({ hold: string({ minLength: 1, maxLength: 160 }) }),
    output: object({ guest: nullable(string()), until: nullable(string()) }),
    effects: ['read_only'],
  },
  (args) => {
    const hold = running(args.hold, Date.now());
    return hold === undefined ? { guest: null, until: null } : { guest: hold.guest, until: hold.until };
  },
);
