// Pins a memo to a board. Spaces around the text are of no use on the board and are left out there.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

function pinned(key, text) {
  const change = { resourceType: 'memo', resourceId: key, operation: 'create', externalRef: `board/${key}` };
  return new Output({ memo: key, length: text.length }, { receipt: { memo: key }, changes: [change] });
}

tool(
  'Memo.Pin',
  {
    description: 'Pins a memo to a board.',
    input: object({ text: string({ maxLength: 2000 }) }),
    output: object({ memo: string(), length: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(`board/${key}`);
      return text === undefined ? 'did-not-happen' : happened(pinned(key, text));
    },
    verify: ({ externalRef }) => kv.text(externalRef) !== undefined || 'the memo is missing',
  },
  ({ text }, { externalKey }) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the memo is empty');
    kv.set(`board/${externalKey}`, text.trim());
    return pinned(externalKey, text);
  },
);
