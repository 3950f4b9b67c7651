import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

// A lot has two entries, both named by the key of the call: its record and the text of its tag.
const entriesOf = (args, key) => [
  { type: 'lot', id: `lot/${key}`, text: JSON.stringify({ title: args.title, reserve: args.reserve }) },
  { type: 'tag', id: `tag/${key}`, text: `lot: ${args.title}\nreserve: ${args.reserve}` },
];

function entered(args, key) {
  const changes = entriesOf(args, key).map(({ type, id, text }) => ({ resourceType: type, resourceId: id, operation: 'create', version: text }));
  return new Output({ lot: key }, { receipt: { lot: key }, changes });
}

// From the second access on, a failure no longer says that nothing was changed.
function inDoubt(access) {
  try {
    return access();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    throw new Failure(thrown.code, thrown.message, { applied: 'unknown' });
  }
}

tool(
  'Lot.Enter',
  {
    description: 'Enters a lot into the catalogue of an auction.',
    input: object({ title: string({ minLength: 1, maxLength: 300 }), reserve: integer({ minimum: 0, maximum: 10_000_000 }) }),
    output: object({ lot: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3 * 86_400,
    reconcile: (args, key) => {
      const entries = entriesOf(args, key);
      const found = entries.map(({ id }) => kv.text(id));
      if (found.every((text) => text === undefined)) return 'did-not-happen';
      return found.every((text, i) => text === entries[i].text) ? happened(entered(args, key)) : 'unknown';
    },
    verify: ({ resourceType, resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return `the ${resourceType} is missing`;
      return text === version || `the ${resourceType} is ${text}`;
    },
    compensate: (args, result, key) => {
      const [lot, tag] = entriesOf(args, key);
      if (kv.text(lot.id) !== lot.text || kv.text(tag.id) !== tag.text) {
        throw new Failure('POLICY_DENIED', 'the lot was changed or withdrawn');
      }
      if (!kv.delete(lot.id)) throw new Failure('POLICY_DENIED', 'the lot was withdrawn by another party');
      if (!inDoubt(() => kv.delete(tag.id))) {
        throw new Failure('POLICY_DENIED', 'the tag was removed by another party', { applied: 'unknown' });
      }
      return new Output(null, { changes: [lot, tag].map(({ type, id }) => ({ resourceType: type, resourceId: id, operation: 'delete' })) });
    },
  },
  (args, context) => {
    if (args.title.trim() === '') throw new Failure('INVALID_INPUT', 'the lot has no title');
    const [lot, tag] = entriesOf(args, context.externalKey);
    kv.set(lot.id, lot.text);
    inDoubt(() => kv.set(tag.id, tag.text));
    return entered(args, context.externalKey);
  },
);
