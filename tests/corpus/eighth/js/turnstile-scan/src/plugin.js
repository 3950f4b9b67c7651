import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

tool(
  'Turnstile.Scan',
  {
    description: 'Records that a ticket passed the turnstile.',
    input: object({ ticket: string({ minLength: 1, maxLength: 60 }), gate: string({ minLength: 1, maxLength: 60 }) }),
    output: object({ ticket: string(), gate: string(), passage: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3600,
  },
  ({ ticket, gate }, { externalKey, triesBefore }) => {
    if (ticket.includes('\n')) throw new Failure('INVALID_INPUT', 'a ticket has one line');
    const passage = `passage:${externalKey}`;
    // A further try of the same call: the passage was recorded before.
    if (triesBefore === 0) kv.set(passage, `${gate}\n${ticket}`);
    return { ticket, gate, passage };
  },
);
