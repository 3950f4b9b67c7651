// Puts a notice on a shelf. The entry is named by the job, the place of the call in it, and the run.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entryOf = ({ jobId, slot, attempt }) => `notice/${jobId}/${slot}/${attempt}`;

tool(
  'Notice.Shelve',
  {
    description: 'Puts a notice on a shelf.',
    input: object({ text: string({ maxLength: 1000 }) }),
    output: object({ entry: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86400,
    verify: ({ resourceId, version }) => kv.text(resourceId) === version || 'the notice was changed or removed',
  },
  ({ text }, context) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the notice is empty');
    const entry = entryOf(context);
    kv.set(entry, text);
    const change = { resourceType: 'notice', resourceId: entry, operation: 'create', version: text };
    return new Output({ entry }, { changes: [change] });
  },
);
