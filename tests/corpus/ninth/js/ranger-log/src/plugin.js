import { config, Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

const sighting = (args, at) => JSON.stringify({ species: args.species, count: args.count, at });

function logged(key, text) {
  const { at } = JSON.parse(text);
  return new Output(
    { sighting: key, at },
    {
      receipt: { sighting: key },
      changes: [{ resourceType: 'sighting', resourceId: key, operation: 'create', version: text }],
    },
  );
}

tool(
  'Sighting.Log',
  {
    description: 'Logs a sighting of animals, with its time.',
    input: object({ species: string({ minLength: 1, maxLength: 120 }), count: integer({ minimum: 1, maximum: 100_000 }) }),
    output: object({ sighting: string(), at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(key);
      return text === undefined ? 'did-not-happen' : happened(logged(key, text));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the sighting is missing';
      return text === version || `the sighting is ${text}`;
    },
    compensate: (args, result, key) => {
      if (kv.text(key) !== sighting(args, result.at)) {
        throw new Failure('POLICY_DENIED', 'the sighting was changed or removed');
      }
      if (!kv.delete(key)) throw new Failure('POLICY_DENIED', 'the sighting was removed by another party');
      return new Output(null, { changes: [{ resourceType: 'sighting', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, context) => {
    // latch.toml: config = { paused = true } during the yearly count.
    if (config.get('paused') === true) {
      const more = { applied: 'no', retryAfterMs: 15 * 60_000 };
      throw new Failure('DEPENDENCY_UNAVAILABLE', 'the log is closed for the yearly count', more);
    }
    const text = sighting(args, new Date().toISOString());
    kv.set(context.externalKey, text);
    return logged(context.externalKey, text);
  },
);
