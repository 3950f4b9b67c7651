// Journal of an excavation: each find of a day becomes one entry, which is not edited later.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, optional, string } = schema;

const entryName = (key) => `find/${key}`;

// The map is shared with the registrar's plugin and is busy at the end of a shift. The host tries again in a moment.
function save(name, text) {
  try {
    kv.set(name, text);
  } catch (error) {
    if (error instanceof Failure && error.code === 'DEPENDENCY_UNAVAILABLE') {
      throw new Failure('TRANSIENT_DB_LOCK', 'the journal is busy', { retryAfterMs: 750, cause: error });
    }
    throw error;
  }
}

function entryOf({ trench, context_no: contextNo, kind, description, depths_mm: depths, finder }) {
  const entry = { trench, context_no: contextNo, kind, description: description.trim(), finder: finder ?? 'team' };
  if (depths.length > 0) {
    entry.from_mm = Math.min(...depths);
    entry.to_mm = Math.max(...depths);
  }
  return entry;
}

function written(entry, key) {
  return new Output(
    { entry: entryName(key), heading: `${entry.trench}/${entry.context_no} ${entry.kind}` },
    { changes: [{ resourceType: 'find', resourceId: entryName(key), operation: 'create' }] },
  );
}

tool(
  'Journal.Enter',
  {
    description: 'Enters a find into the journal of the excavation.',
    input: object({
      trench: string({ pattern: '^[A-Z]{1,2}\\d{0,2}$' }),
      context_no: integer({ minimum: 1, maximum: 99999 }),
      kind: oneOf('pottery', 'bone', 'metal', 'glass', 'wood', 'other'),
      description: string({ minLength: 1, maxLength: 4000 }),
      depths_mm: array(integer({ minimum: 0, maximum: 20000 }), { maxItems: 50 }),
      finder: optional(string({ minLength: 1, maxLength: 80 })),
    }),
    output: object({ entry: string(), heading: string() }),
    effects: ['internal_write'],

    reconcile: (args, key) => {
      const text = kv.text(entryName(key));
      return text === undefined ? 'did-not-happen' : happened(written(JSON.parse(text), key));
    },

    compensate: (args, result, key) => {
      if (kv.text(entryName(key)) !== JSON.stringify(entryOf(args))) {
        throw new Failure('POLICY_DENIED', `${result.heading} was changed or removed`);
      }
      if (!kv.delete(entryName(key))) throw new Failure('POLICY_DENIED', `${result.heading} was removed`);
      return new Output(null, { changes: [{ resourceType: 'find', resourceId: entryName(key), operation: 'delete' }] });
    },
  },
  (args, context) => {
    const entry = entryOf(args);
    if (entry.description === '') throw new Failure('INVALID_INPUT', 'the description is blank');
    save(entryName(context.externalKey), JSON.stringify(entry));
    return written(entry, context.externalKey);
  },
);
