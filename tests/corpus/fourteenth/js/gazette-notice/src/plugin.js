// Publishes notices of a village gazette. The head of a notice is written last and makes the notice visible.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const body = (id) => `body/${id}`;
const head = (id) => `head/${id}`;

function loadHead(id) {
  const kept = kv.text(head(id));
  return kept === undefined ? undefined : JSON.parse(kept);
}

const published = (id, { number, published_at: at }) => new Output({ id, number, published_at: at }, { receipt: { number } });

tool(
  'Gazette.Publish',
  {
    description: 'Publishes a notice.',
    input: object({ title: string({ minLength: 1, maxLength: 200 }), section: oneOf('births', 'sales', 'council', 'lost'), text: string({ minLength: 1 }) }),
    output: object({ id: string(), number: string(), published_at: string() }),
    effects: ['internal_write'],
    // A body without a head is seen by no reader, and the next try replaces it.
    reconcile: (args, key) => {
      const kept = loadHead(key);
      return kept === undefined ? 'did-not-happen' : happened(published(key, kept));
    },
    compensate: (args, result, key) => {
      const kept = loadHead(key);
      if (kept === undefined || kept.number !== result.number) throw new Failure('POLICY_DENIED', `the notice ${key} was removed or replaced`);
      kv.delete(head(key));
      if (!kv.delete(body(key))) throw new Failure('POLICY_DENIED', `the body of ${key} was missing`, { applied: 'unknown' });
      return new Output(null, { changes: [{ resourceType: 'notice', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ title, section, text }, context) => {
    const id = context.externalKey;
    const words = text.split(/\s+/).filter(Boolean).length;
    if (words === 0) throw new Failure('INVALID_INPUT', `the notice "${title}" has no text`);
    // The tool is not keyed, so it may store a time and a random number.
    const kept = { title, section, words, number: `${section[0].toUpperCase()}-${Math.floor(Math.random() * 1e6)}`, published_at: new Date().toISOString() };
    kv.set(body(id), text);
    try {
      kv.set(head(id), JSON.stringify(kept));
    } catch (error) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the head of ${id}: ${error.message}`, { applied: 'unknown' });
    }
    return published(id, kept);
  },
);

tool(
  'Gazette.Read',
  {
    description: 'Reads a published notice.',
    input: object({ id: string({ minLength: 1, maxLength: 160 }) }),
    output: object({ title: string(), words: integer(), text: string() }),
  },
  ({ id }) => {
    const kept = loadHead(id);
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no notice ${id}`);
    const text = kv.text(body(id));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the notice ${id} is withdrawn`);
    return { title: kept.title, words: kept.words, text };
  },
);
