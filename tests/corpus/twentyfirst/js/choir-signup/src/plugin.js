import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, object, oneOf, optional, string } = schema;

const WEEK = 7 * 86_400;
const KEY = '^[A-Za-z0-9_:/~-]{1,128}$';

const entryOf = (key) => `signup:${key}`;
const change = (key, operation) => ({ resourceType: 'signup', resourceId: key, operation });

tool(
  'Signup.Add',
  {
    description: 'Signs a singer up for a concert.',
    input: object({
      concert: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      singer: string({ minLength: 1, maxLength: 80 }),
      voice: oneOf('soprano', 'alto', 'tenor', 'bass'),
      remark: optional(string({ maxLength: 400 })),
    }),
    output: object({ signup: string(), voice: string() }),
    effects: ['internal_write'],
    // The entry has the name of the call, and its content follows from the arguments alone.
    idempotentByKeySeconds: WEEK,
  },
  ({ concert, singer, voice, remark = '' }, { externalKey }) => {
    const name = singer.trim();
    if (name === '') throw new Failure('INVALID_INPUT', 'the singer has no name');
    kv.set(entryOf(externalKey), JSON.stringify({ concert, singer: name, voice, remark: remark.trim() }));
    return new Output(
      { signup: externalKey, voice },
      { receipt: { signup: externalKey }, changes: [change(externalKey, 'create')] },
    );
  },
);

tool(
  'Signup.Withdraw',
  {
    description: 'Withdraws a signup. A signup that is gone already stays withdrawn.',
    input: object({ signup: string({ pattern: KEY }) }),
    output: object({ signup: string(), withdrawn: boolean() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
  },
  ({ signup }) => {
    kv.delete(entryOf(signup));
    return new Output({ signup, withdrawn: true }, { changes: [change(signup, 'delete')] });
  },
);

tool(
  'Signup.Show',
  {
    description: 'Shows a signup.',
    input: object({ signup: string({ pattern: KEY }) }),
    output: object({
      found: boolean(),
      entry: optional(object({ concert: string(), singer: string(), voice: string(), remark: string() })),
    }),
    effects: ['read_only'],
  },
  ({ signup }) => {
    const text = kv.text(entryOf(signup));
    return text === undefined ? { found: false } : { found: true, entry: JSON.parse(text) };
  },
);
