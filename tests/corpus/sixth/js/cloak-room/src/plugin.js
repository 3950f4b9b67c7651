// Takes in a coat. The description is written first, under a name that only the hook entry leads to. The hook entry is
// the last write and makes the call visible. Undoing marks the hook as empty, so that a second try finds the mark.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const EMPTY = 'empty';

function emptied(key) {
  const change = { resourceType: 'hook', resourceId: `hook/${key}`, operation: 'update', version: EMPTY };
  return new Output(null, { changes: [change] });
}

function taken(key) {
  const change = { resourceType: 'hook', resourceId: `hook/${key}`, operation: 'create', version: 'used' };
  return new Output({ hook: key }, { changes: [change] });
}

// After the first write, every failure leaves the outcome open.
function after(write) {
  try {
    write();
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    throw new Failure(thrown.code, thrown.message, { applied: 'unknown', cause: thrown });
  }
}

tool(
  'Coat.Hang',
  {
    description: 'Takes in a coat.',
    input: object({ coat: string({ minLength: 1, maxLength: 300 }) }),
    output: object({ hook: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const hook = kv.text(`hook/${key}`);
      if (hook === undefined) return 'did-not-happen';
      return hook === 'used' ? happened(taken(key)) : 'unknown';
    },
    verify: ({ resourceId, version }) => {
      const hook = kv.text(resourceId);
      return hook === version || `the hook is ${hook ?? 'missing'}`;
    },
    compensate: (args, result, key) => {
      const hook = kv.text(`hook/${key}`);
      if (hook !== EMPTY) {
        if (hook !== 'used' || kv.text(`coat/${key}`) !== args.coat) {
          throw new Failure('POLICY_DENIED', 'the coat was changed or handed out');
        }
        kv.set(`hook/${key}`, EMPTY);
      }
      after(() => kv.delete(`coat/${key}`));
      return emptied(key);
    },
  },
  ({ coat }, { externalKey }) => {
    kv.set(`coat/${externalKey}`, coat);
    after(() => kv.set(`hook/${externalKey}`, 'used'));
    return taken(externalKey);
  },
);
