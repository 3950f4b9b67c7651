// The diary of an allotment: what was done on a bed, and when it was entered.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const name = (key) => `diary#${key}`;

/** The entry that an earlier try of the call has made, if there is one. */
function earlier(key) {
  try {
    return JSON.parse(kv.text(name(key)));
  } catch {
    return null; // no entry yet
  }
}

tool(
  'Diary.Enter',
  {
    description: 'Enters a piece of work in the diary of an allotment.',
    input: object({
      bed: string({ minLength: 1, maxLength: 40 }),
      work: oneOf('sow', 'plant', 'weed', 'water', 'harvest'),
      remark: string({ maxLength: 1000 }),
    }),
    output: object({ entry: string(), entered_at: string() }),
    effects: ['internal_write'],
    // An entry has the name of its call, and keeps the time of the first try.
    idempotentByKeySeconds: 12 * 60 * 60,
  },
  ({ bed, work, remark }, { externalKey }) => {
    if (bed.trim() === '') throw new Failure('INVALID_INPUT', 'the bed has no name');
    let entry = earlier(externalKey);
    if (entry === null) {
      entry = { bed: bed.trim(), work, remark, entered_at: new Date().toISOString() };
      kv.set(name(externalKey), JSON.stringify(entry));
    }
    return new Output(
      { entry: externalKey, entered_at: entry.entered_at },
      {
        receipt: { entry: externalKey },
        changes: [{ resourceType: 'diary-entry', resourceId: externalKey, operation: 'create', version: entry.entered_at }],
      },
    );
  },
);
