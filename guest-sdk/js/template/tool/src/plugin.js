import { happened, kv, Output, schema, tool } from '../latchwork/index.js';

const { object, string } = schema;

const kept = (key) => new Output({ key }, { changes: [{ resourceType: 'note', resourceId: key, operation: 'create' }] });

tool(
  '{{Noun}}.Keep',
  {
    description: 'Keeps a note under the key of its call.',
    input: object({ text: string() }),
    output: object({ key: string() }),
    effects: ['internal_write'],
    // Called after a crash: finds out whether the call happened.
    reconcile: (args, key) => (kv.get(key) === undefined ? 'did-not-happen' : happened(kept(key))),
  },
  (args, context) => {
    kv.set(context.externalKey, JSON.stringify({ text: args.text, at: new Date().toISOString() }));
    return kept(context.externalKey);
  },
);
