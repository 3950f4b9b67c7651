import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

tool(
  'Trail.Reopen',
  {
    description: 'Puts the notice of a reopened trail on the board of the park.',
    input: object({ trail: string({ minLength: 1, maxLength: 60 }), from: string(), remark: string({ maxLength: 400 }) }),
    output: object({ notice: string(), text: string() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the notice was taken down';
      return text === version || `the notice says: ${text}`;
    },
  },
  ({ trail, from, remark }, context) => {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(from)) throw new Failure('INVALID_INPUT', `from: ${from} is no date`);
    const text = `${trail}: open from ${from}${remark && `. ${remark}`}`;
    // The job is the ticket of the ranger, so the board shows where a notice comes from.
    const notice = `notice/${context.jobId}`;
    kv.set(notice, text);
    return new Output(
      { notice, text },
      { changes: [{ resourceType: 'notice', resourceId: notice, operation: 'create', version: text }] },
    );
  },
);
