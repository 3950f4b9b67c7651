import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, object, string } = schema;

const ENTRY = 'issue/';

/** The answer of an issue: the slip that the guard prints, and the change that can be checked later. */
function issued(key, args) {
  const slip = { slip: key, room: args.room, holder: args.holder };
  return new Output(slip, {
    receipt: slip,
    changes: [{ resourceType: 'key-issue', resourceId: key, operation: 'create', version: `${args.room}/${args.holder}` }],
  });
}

tool(
  'Cabinet.Issue',
  {
    description: 'Records that the key of a room was handed out at the gate.',
    input: object({
      room: string({ pattern: '^[A-Z][0-9]{1,4}$' }),
      holder: string({ minLength: 1, maxLength: 80 }),
      until: string({ pattern: '^[0-9]{2}:[0-9]{2}$' }),
    }),
    output: object({ slip: string(), room: string(), holder: string() }),
    effects: ['internal_write'],
    // The entry has the name of the external key, so a repetition writes no second one.
    idempotentByKeySeconds: 86400,
    verify: ({ resourceId, version }) => {
      const text = kv.text(ENTRY + resourceId);
      if (text === undefined) return 'the issue is missing';
      const { room, holder } = JSON.parse(text);
      return `${room}/${holder}` === version || `the key of ${room} is recorded for ${holder}`;
    },
    compensate: (args, result, key) => {
      const text = kv.text(ENTRY + key);
      if (text === undefined) throw new Failure('POLICY_DENIED', 'the issue is no longer recorded');
      if (JSON.parse(text).room !== args.room) throw new Failure('POLICY_DENIED', 'the issue was changed');
      if (!kv.delete(ENTRY + key)) throw new Failure('POLICY_DENIED', 'the issue is no longer recorded');
      return new Output({ slip: key }, { changes: [{ resourceType: 'key-issue', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, context) => {
    const [hour, minute] = args.until.split(':').map(Number);
    if (hour > 23 || minute > 59) throw new Failure('INVALID_INPUT', `${args.until} is no time of day`);

    const key = context.externalKey;
    if (context.triesBefore > 0) {
      // The earlier try has recorded the issue with its time. Keep that time.
      console.log(`issue ${key} is repeated`);
      return issued(key, args);
    }
    const { room, holder, until } = args;
    kv.set(ENTRY + key, JSON.stringify({ room, holder, until, at: new Date().toISOString() }));
    return issued(key, args);
  },
);

tool(
  'Cabinet.Look',
  {
    description: 'Shows the issue of a slip, for the guard of the next shift.',
    input: object({ slip: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ room: nullable(string()), holder: nullable(string()), at: nullable(string()) }),
    effects: ['read_only'],
  },
  ({ slip }) => {
    const text = kv.text(ENTRY + slip);
    if (text === undefined) return { room: null, holder: null, at: null };
    const { room, holder, at } = JSON.parse(text);
    return { room, holder, at };
  },
);
