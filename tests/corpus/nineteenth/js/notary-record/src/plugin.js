// Keeps statements with the time at which they were recorded.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entry = (key) => `statement/${key}`;

const change = (key, operation, version) => ({ resourceType: 'statement', resourceId: key, operation, version });

/** Returns the answer of a recorded statement. */
function answer(key, { recorded }) {
  return new Output({ record: key, recorded }, { changes: [change(key, 'create', recorded)] });
}

/** Returns the statement of a key, or undefined. */
function read(key) {
  const kept = kv.text(entry(key));
  return kept === undefined ? undefined : JSON.parse(kept);
}

tool(
  'Statement.Record',
  {
    description: 'Records a statement with the present time.',
    input: object({ witness: string({ minLength: 1, maxLength: 100 }), text: string({ maxLength: 8000 }) }),
    output: object({ record: string(), recorded: string() }),
    effects: ['internal_write'],
    // Finds the statement, and the time that the first answer had.
    reconcile: (args, key) => {
      const kept = read(key);
      return kept === undefined ? 'did-not-happen' : happened(answer(key, kept));
    },
    verify: ({ resourceId, version }) => {
      const kept = read(resourceId);
      if (kept === undefined) return 'the statement is missing';
      return kept.recorded === version || `the statement was recorded at ${kept.recorded}`;
    },
    compensate: (args, result, key) => {
      const kept = read(key);
      if (kept?.recorded !== result.recorded) throw new Failure('POLICY_DENIED', 'the statement is not as recorded');
      if (!kv.delete(entry(key))) throw new Failure('POLICY_DENIED', 'the statement is no longer there');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ witness, text }, context) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', `the statement of ${witness} is empty`);
    const made = { witness, text, recorded: new Date().toISOString() };
    kv.set(entry(context.externalKey), JSON.stringify(made));
    return answer(context.externalKey, made);
  },
);

tool(
  'Statement.Read',
  {
    description: 'Returns a recorded statement.',
    input: object({ record: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ witness: string(), text: string(), recorded: string() }),
    effects: ['read_only'],
  },
  ({ record }) => {
    const kept = read(record);
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no statement ${record}`);
    return kept;
  },
);
