import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, optional, string } = schema;

/** Name of the entry of a deposit. Keys of calls have colons and slashes, which the reading room's export rejects. */
const entryOf = (externalKey) => `deposit-${externalKey.replace(/[:/]/g, '-')}`;

/** The deposit slip, as the reading room prints it. */
function slip(args) {
  return JSON.stringify({
    depositor: args.depositor,
    kind: args.kind,
    boxes: args.boxes,
    shelf: args.shelf,
    closed_until: args.closed_until ?? null,
  });
}

/** Answer of the call for the slip that the map has. */
function recorded(entry, text) {
  const { shelf, boxes } = JSON.parse(text);
  return new Output(
    { entry, shelf, boxes },
    {
      receipt: { entry, slip: text },
      changes: [{ resourceType: 'deposit', resourceId: entry, operation: 'create', version: text }],
    },
  );
}

tool(
  'Deposit.Record',
  {
    description: 'Records a deposit of an archive under the key of its call.',
    input: object({
      depositor: string({ minLength: 1, maxLength: 120 }),
      kind: oneOf('papers', 'maps', 'photographs', 'sound'),
      boxes: integer({ minimum: 1, maximum: 500 }),
      shelf: string({ pattern: '^[A-Z][0-9]{1,3}/[0-9]{1,3}$' }),
      closed_until: optional(integer({ minimum: 1900, maximum: 2200 })),
    }),
    output: object({ entry: string(), shelf: string(), boxes: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const entry = entryOf(key);
      const text = kv.text(entry);
      return text === undefined ? 'did-not-happen' : happened(recorded(entry, text));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the slip is missing';
      return text === version || `the slip has another text: ${text}`;
    },
  },
  (args, context) => {
    if (args.kind === 'sound' && args.shelf.startsWith('A')) {
      throw new Failure('INVALID_INPUT', 'row A is too damp for sound carriers');
    }
    const entry = entryOf(context.externalKey);
    const text = slip(args);
    kv.set(entry, text);
    return recorded(entry, text);
  },
);

tool(
  'Deposit.Look',
  {
    description: 'Looks up the slip of a recorded deposit.',
    input: object({ entry: string({ pattern: '^deposit-[A-Za-z0-9_~-]{1,128}$' }) }),
    output: object({
      depositor: string(),
      kind: string(),
      boxes: integer(),
      shelf: string(),
      closed_until: schema.nullable(integer()),
    }),
    effects: ['read_only'],
  },
  ({ entry }) => {
    const text = kv.text(entry);
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no deposit ${entry}`);
    return JSON.parse(text);
  },
);
