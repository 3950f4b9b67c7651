import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entry = (key) => `incident/${key}`;
const change = (key, operation, version) => ({ resourceType: 'incident', resourceId: entry(key), operation, version });

/** The text of an entry. The order of its fields is fixed, so equal incidents have equal texts. */
const written = ({ stand, report }, reported_at, withdrawn_at = null) => JSON.stringify({ stand, report, reported_at, withdrawn_at });

const kept = (key, reported_at, text) => new Output({ incident: entry(key), reported_at }, { changes: [change(key, 'create', text)] });

tool(
  'Apron.Report',
  {
    description: 'Keeps the report of an incident on the apron. A report that is undone stays, marked as withdrawn.',
    input: object({ stand: string({ minLength: 1, maxLength: 20 }), report: string({ minLength: 1, maxLength: 2000 }) }),
    output: object({ incident: string(), reported_at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(entry(key));
      if (text === undefined) return 'did-not-happen';
      let reported_at;
      try {
        ({ reported_at } = JSON.parse(text));
      } catch {
        return 'unknown';
      }
      // Another text was withdrawn or changed since: what this call wrote cannot be distinguished from it any more.
      return text === written(args, reported_at) ? happened(kept(key, reported_at, text)) : 'unknown';
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the report is missing';
      return text === version || 'the report was withdrawn or changed';
    },
    compensate: (args, { reported_at }, key) => {
      let text;
      try {
        text = kv.text(entry(key));
      } catch (cause) {
        throw new Failure('DEPENDENCY_UNAVAILABLE', `the report cannot be read: ${cause.message}`, { applied: 'no', cause });
      }
      if (text !== written(args, reported_at)) throw new Failure('POLICY_DENIED', 'the report was withdrawn, changed or removed');
      const marked = written(args, reported_at, new Date().toISOString());
      kv.set(entry(key), marked);
      return new Output(null, { changes: [change(key, 'withdraw', marked)] });
    },
  },
  (args, { externalKey, triesBefore }) => {
    if (args.report.trim() === '') throw new Failure('INVALID_INPUT', 'the report is empty');
    if (triesBefore > 0) console.log(`try ${triesBefore + 1} of ${externalKey}`);
    const reported_at = new Date().toISOString();
    const text = written(args, reported_at);
    kv.set(entry(externalKey), text);
    return kept(externalKey, reported_at, text);
  },
);
