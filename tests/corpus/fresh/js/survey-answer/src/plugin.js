import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

const entry = (key) => `answer:${key}`;

const kept = (key, stored) =>
  new Output({ id: key, at: stored.at }, { changes: [{ resourceType: 'answer', resourceId: key, operation: 'create', version: stored.at }] });

function read(key) {
  const text = kv.text(entry(key));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Survey.Answer',
  {
    description: 'Stores the answers of a person to a survey.',
    input: object({ survey: string({ maxLength: 60 }), answers: array(string({ maxLength: 500 }), { maxItems: 20 }) }),
    output: object({ id: string(), at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const stored = read(key);
      return stored === undefined ? 'did-not-happen' : happened(kept(key, stored));
    },
    verify: ({ resourceId, version }) => {
      const stored = read(resourceId);
      if (stored === undefined) return 'the answers are missing';
      return stored.at === version || `the answers are of ${stored.at}`;
    },
    compensate: (args, result, key) => {
      const stored = read(key);
      if (stored === undefined || stored.at !== result.at) throw new Failure('POLICY_DENIED', 'the answers were changed since');
      kv.delete(entry(key));
      return new Output(null, { changes: [{ resourceType: 'answer', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ survey, answers }, { externalKey }) => {
    if (answers.length === 0) throw new Failure('INVALID_INPUT', 'there are no answers');
    // A repeated call keeps the time of the first one.
    const stored = read(externalKey) ?? { survey, answers, at: new Date().toISOString() };
    kv.set(entry(externalKey), JSON.stringify(stored));
    return kept(externalKey, stored);
  },
);
