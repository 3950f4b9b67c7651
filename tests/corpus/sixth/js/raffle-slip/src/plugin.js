// Issues a slip with random numbers and the present time. The slip is kept under the key of the call; a repetition
// finds it and answers with it, whatever it would have drawn itself.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

function issued(key, { numbers, at }) {
  const version = numbers.join('-');
  const change = { resourceType: 'slip', resourceId: `slip/${key}`, operation: 'create', version };
  return new Output({ numbers, at }, { receipt: { numbers }, changes: [change] });
}

const read = (entry) => {
  const text = kv.text(entry);
  return text === undefined ? undefined : JSON.parse(text);
};

tool(
  'Slip.Issue',
  {
    description: 'Issues a slip with random numbers.',
    input: object({ count: integer({ minimum: 1, maximum: 6 }), holder: string() }),
    output: object({ numbers: array(integer()), at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 30 * 86400,
    verify: ({ resourceId, version }) => {
      const slip = read(resourceId);
      if (slip === undefined) return 'the slip is missing';
      return slip.numbers.join('-') === version || `the slip has the numbers ${slip.numbers.join('-')}`;
    },
  },
  ({ count, holder }, { externalKey }) => {
    if (holder.trim() === '' || holder.length > 200) throw new Failure('INVALID_INPUT', 'the slip has no valid holder');
    const kept = read(`slip/${externalKey}`);
    if (kept !== undefined) return issued(externalKey, kept);
    const bytes = crypto.getRandomValues(new Uint8Array(count));
    const slip = { holder, numbers: [...bytes].map((byte) => 1 + (byte % 64)), at: new Date().toISOString() };
    kv.set(`slip/${externalKey}`, JSON.stringify(slip));
    return issued(externalKey, slip);
  },
);
