// Labels a crate: one entry for the label and one for the crate, both under the key of the call and with values that
// follow from the arguments. A repetition writes the same two entries, so that it completes a call that was cut off.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

/** The entries of a call: names and values. */
const entries = ({ crate, text }, key) => [
  [`label/${key}`, text],
  [`crate/${key}`, crate],
];
const labelled = (args, key) =>
  new Output(
    { label: key },
    {
      receipt: { label: key },
      changes: entries(args, key).map(([resourceId, version]) => ({
        resourceType: 'entry', resourceId, operation: 'create', version,
      })),
    },
  );

/** Runs the actions in their order. From the second one on, a failure leaves the first one done. */
function inOrder(actions) {
  actions.forEach((action, i) => {
    try {
      action();
    } catch (failure) {
      if (i === 0) throw failure;
      throw new Failure('DEPENDENCY_UNAVAILABLE', failure.message, { applied: 'unknown' });
    }
  });
}

tool(
  'Crate.Label',
  {
    description: 'Labels a crate.',
    input: object({ crate: string({ minLength: 1, maxLength: 40 }), text: string({ minLength: 1, maxLength: 400 }) }),
    output: object({ label: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 30 * 86400,
    // Called after a crash: finds out whether the call happened.
    reconcile: (args, key) => {
      const found = entries(args, key).map(([name, value]) => [kv.text(name), value]);
      if (found.every(([text, value]) => text === value)) return happened(labelled(args, key));
      return found.every(([text]) => text === undefined) ? 'did-not-happen' : 'unknown';
    },
    // Called when a job is resumed.
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the entry is missing';
      return text === version || 'the entry has another text';
    },
    // Called when the job is cancelled or undone.
    compensate: (args, result, key) => {
      const own = entries(args, key);
      if (own.some(([name, value]) => kv.text(name) !== value)) {
        throw new Failure('POLICY_DENIED', 'the label was changed or removed');
      }
      inOrder(own.map(([name]) => () => kv.delete(name)));
      return new Output(null, {
        changes: own.map(([resourceId]) => ({ resourceType: 'entry', resourceId, operation: 'delete' })),
      });
    },
  },
  (args, { externalKey }) => {
    inOrder(entries(args, externalKey).map(([name, value]) => () => kv.set(name, value)));
    return labelled(args, externalKey);
  },
);
