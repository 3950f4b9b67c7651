import { config, Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entryOf = (key) => `waiver/${key}`;
const textOf = ({ guest, activity }, filed) => JSON.stringify({ guest, activity, filed });

const filedAs = (key, text, filed) =>
  new Output(
    { waiver: entryOf(key), filed },
    { changes: [{ resourceType: 'waiver', resourceId: entryOf(key), operation: 'create', version: text }] },
  );

tool(
  'Waiver.File',
  {
    description: 'Files the waiver of a guest with the time at which it was filed.',
    input: object({ guest: string({ minLength: 1, maxLength: 200 }), activity: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ waiver: string(), filed: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(entryOf(key));
      if (text === undefined) return 'did-not-happen';
      const { filed } = JSON.parse(text);
      // A waiver that was edited since does not show what this call has filed.
      return text === textOf(args, filed) ? happened(filedAs(key, text, filed)) : 'unknown';
    },
    verify: ({ resourceId, operation, version }) => {
      const text = kv.text(resourceId);
      if (operation === 'delete') return text === undefined || 'the waiver is there again';
      if (text === undefined) return 'the waiver is missing';
      return text === version || 'the waiver was edited';
    },
    compensate: (args, result, key) => {
      const text = kv.text(entryOf(key));
      if (text === undefined || text !== textOf(args, result?.filed)) {
        throw new Failure('POLICY_DENIED', 'the waiver was edited or removed');
      }
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the waiver was removed meanwhile');
      return new Output(null, { changes: [{ resourceType: 'waiver', resourceId: entryOf(key), operation: 'delete' }] });
    },
  },
  (args, context) => {
    if (config.get('closed') === true) {
      throw new Failure('RATE_LIMIT', 'the office is closed', { retryAfterMs: 30 * 60 * 1000, applied: 'no' });
    }
    console.log(`${context.slot}: attempt ${context.attempt}, ${context.triesBefore} tries before`);
    const filed = new Date().toISOString();
    const text = textOf(args, filed);
    kv.set(entryOf(context.externalKey), text);
    return filedAs(context.externalKey, text, filed);
  },
);
