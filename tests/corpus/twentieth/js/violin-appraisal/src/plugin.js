// Files the appraisals of violins: a long text and a short head.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

/** Longest text of an appraisal, in bytes. */
const TEXT_BYTES = 60000;

const headOf = (key) => `appraisal/${key}`;
const textOf = (key) => `appraisal-text/${key}`;

function head(key) {
  const stored = kv.text(headOf(key));
  return stored === undefined ? undefined : JSON.parse(stored);
}

function filed(key, { filed_at }) {
  return new Output(
    { key, filed_at },
    { changes: [{ resourceType: 'appraisal', resourceId: key, operation: 'create', version: filed_at }] },
  );
}

tool(
  'Appraisal.File',
  {
    description: 'Files the appraisal of a violin.',
    input: object({
      maker: string({ minLength: 1, maxLength: 100 }),
      year: integer({ minimum: 1500, maximum: 2100 }),
      cents: integer({ minimum: 0 }),
      text: string({ minLength: 1 }),
    }),
    output: object({ key: string(), filed_at: string() }),
    effects: ['internal_write'],
    // An appraisal is filed once it has its head.
    reconcile: (args, key) => {
      const found = head(key);
      return found === undefined ? 'did-not-happen' : happened(filed(key, found));
    },
    verify: ({ resourceId, version }) => head(resourceId)?.filed_at === version || 'the appraisal is not as filed',
    compensate: (args, result, key) => {
      if (head(key)?.filed_at !== result.filed_at) throw new Failure('POLICY_DENIED', 'the appraisal is not as filed');
      if (!kv.delete(headOf(key))) throw new Failure('POLICY_DENIED', 'the appraisal was removed');
      if (!kv.delete(textOf(key))) {
        throw new Failure('POLICY_DENIED', 'the text of the appraisal was removed', { applied: 'unknown' });
      }
      return new Output(null, { changes: [{ resourceType: 'appraisal', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ maker, year, cents, text }, { externalKey }) => {
    const bytes = new TextEncoder().encode(text);
    if (bytes.length > TEXT_BYTES) {
      throw new Failure('INVALID_INPUT', `the text has ${bytes.length} bytes, and ${TEXT_BYTES} are allowed`);
    }
    const made = { maker, year, cents, filed_at: new Date().toISOString() };
    kv.set(textOf(externalKey), bytes);
    kv.set(headOf(externalKey), JSON.stringify(made));
    return filed(externalKey, made);
  },
);

tool(
  'Appraisal.Show',
  {
    description: 'Shows an appraisal that was filed.',
    input: object({ key: string({ pattern: '^[ -~]+$', maxLength: 128 }) }),
    output: object({ maker: string(), year: integer(), cents: integer(), filed_at: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ key }) => {
    const found = head(key);
    if (found === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no appraisal ${key}`);
    const text = kv.text(textOf(key));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the text of ${key} was removed`);
    return { ...found, text };
  },
);
