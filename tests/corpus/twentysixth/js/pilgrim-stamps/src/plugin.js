import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const WEEK = 7 * 86400;
const nameOf = (key) => `stamp/${key}`;

/** Returns the output of a call from the text of its entry. */
function stamped(key, text) {
  const { chapel, at } = JSON.parse(text);
  return new Output(
    { stamp: key, chapel, at },
    { receipt: { stamp: key, at }, changes: [{ resourceType: 'stamp', resourceId: key, operation: 'create', version: text }] },
  );
}

const entryOf = ({ pilgrim, chapel }, at) => JSON.stringify({ pilgrim, chapel, at });

tool(
  'Pilgrim.Stamp',
  {
    description: 'Stamps the pass of a pilgrim at a chapel, with the time of the visit.',
    input: object({ pilgrim: string({ minLength: 1, maxLength: 120 }), chapel: string({ minLength: 1, maxLength: 120 }) }),
    output: object({ stamp: string(), chapel: string(), at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
    reconcile: (args, key) => {
      const text = kv.text(nameOf(key));
      return text === undefined ? 'did-not-happen' : happened(stamped(key, text));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(nameOf(resourceId));
      if (text === undefined) return 'the stamp is missing';
      return text === version || `the stamp is now ${text}`;
    },
    compensate: (args, { at }, key) => {
      if (kv.text(nameOf(key)) !== entryOf(args, at)) throw new Failure('POLICY_DENIED', 'the stamp was changed or removed');
      if (!kv.delete(nameOf(key))) throw new Failure('POLICY_DENIED', 'the stamp was removed');
      return new Output(null, { changes: [{ resourceType: 'stamp', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, { externalKey, triesBefore }) => {
    if (args.pilgrim.trim() === '') throw new Failure('INVALID_INPUT', 'the pilgrim has no name');
    const kept = kv.text(nameOf(externalKey));
    if (kept !== undefined) {
      console.info(`stamped before, after ${triesBefore} tries`);
      return stamped(externalKey, kept);
    }
    const text = entryOf(args, new Date().toISOString());
    kv.set(nameOf(externalKey), text);
    return stamped(externalKey, text);
  },
);
