import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

const change = (key, operation, version) => ({ resourceType: 'feedback', resourceId: key, operation, version });

function dropped(key, entry) {
  const { at } = JSON.parse(entry);
  return new Output({ ticket: key, at }, { receipt: { ticket: key }, changes: [change(key, 'create', entry)] });
}

tool(
  'FeedbackBox.Drop',
  {
    description: 'Drops feedback into the box.',
    input: object({ stars: integer({ minimum: 1, maximum: 5 }), text: string({ maxLength: 2000 }) }),
    output: object({ ticket: string(), at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const entry = kv.text(key);
      return entry === undefined ? 'did-not-happen' : happened(dropped(key, entry));
    },
    verify: ({ resourceId, version }) => {
      const entry = kv.text(resourceId);
      if (entry === undefined) return 'the feedback was removed';
      return entry === version || 'the feedback was changed';
    },
    compensate: (args, result, key) => {
      const entry = kv.text(key);
      if (entry === undefined) throw new Failure('POLICY_DENIED', 'the feedback was removed');
      const { stars, text, at } = JSON.parse(entry);
      if (stars !== args.stars || text !== args.text || at !== result.at) {
        throw new Failure('POLICY_DENIED', 'the feedback was changed');
      }
      kv.delete(key);
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ stars, text }, context) => {
    if (stars < 3 && text.trim() === '') throw new Failure('INVALID_INPUT', 'few stars need a text');
    const entry = JSON.stringify({ stars, text, at: new Date().toISOString() });
    kv.set(context.externalKey, entry);
    return dropped(context.externalKey, entry);
  },
);
