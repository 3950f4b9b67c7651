// Keeps the book of the batches of hides in a tannery.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const nameOf = (key) => `batch/${key}`;

/** The stored batch of a call, or undefined if there is none that can be read. */
function stored(key) {
  try {
    return JSON.parse(kv.text(nameOf(key)));
  } catch {
    return undefined;
  }
}

function output(key, batch) {
  return new Output(
    { entry: nameOf(key), hides: batch.hides, started_at: batch.started_at },
    {
      receipt: { entry: nameOf(key) },
      changes: [{ resourceType: 'batch', resourceId: nameOf(key), operation: 'create', version: batch.started_at }],
    },
  );
}

tool(
  'Batch.Start',
  {
    description: 'Writes a new batch of hides into the book, with the time of its start.',
    input: object({
      pit: integer({ minimum: 1, maximum: 60 }),
      agent: oneOf('oak', 'mimosa', 'chestnut'),
      lots: array(object({ supplier: string({ minLength: 1, maxLength: 60 }), hides: integer({ minimum: 1 }) }), {
        minItems: 1,
        maxItems: 100,
      }),
    }),
    output: object({ entry: string(), hides: integer(), started_at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const batch = stored(key);
      return batch === undefined ? 'did-not-happen' : happened(output(key, batch));
    },
  },
  ({ pit, agent, lots }, context) => {
    const hides = lots.reduce((sum, lot) => sum + lot.hides, 0);
    if (hides > 400) throw new Failure('INVALID_INPUT', `a pit takes 400 hides, not ${hides}`);
    const batch = { pit, agent, hides, lots, started_at: new Date().toISOString() };
    kv.set(nameOf(context.externalKey), JSON.stringify(batch));
    return output(context.externalKey, batch);
  },
);

tool(
  'Batch.Read',
  {
    description: 'Reads a batch from the book.',
    input: object({ entry: string({ pattern: '^batch/[ -~]+$', maxLength: 200 }) }),
    effects: ['read_only'],
  },
  ({ entry }) => {
    const text = kv.text(entry);
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the book has no ${entry}`);
    return JSON.parse(text);
  },
);
