// Registers the saplings that a town plants.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const DAY = 24 * 60 * 60;

const nameOf = (key) => `sapling/${key}`;

function stored(key) {
  const text = kv.text(nameOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function registered(key, { species, street, registered_at, inspection }) {
  return new Output(
    { entry: nameOf(key), registered_at, inspection },
    {
      receipt: { species, street, registered_at },
      changes: [{ resourceType: 'sapling', resourceId: key, operation: 'create', version: registered_at }],
    },
  );
}

tool(
  'Sapling.Register',
  {
    description: 'Registers a sapling and sets the day of its first inspection.',
    input: object({
      species: string({ minLength: 1, maxLength: 80 }),
      street: string({ minLength: 1, maxLength: 120 }),
      plant_by: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      inspect_after_days: integer({ minimum: 1, maximum: 400 }),
    }),
    output: object({ entry: string(), registered_at: string(), inspection: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 30 * DAY,
    reconcile: (args, key) => {
      const found = stored(key);
      return found === undefined ? 'did-not-happen' : happened(registered(key, found));
    },
    verify: ({ resourceId, version }) => {
      const found = stored(resourceId);
      if (found === undefined) return 'the sapling is not in the register';
      return found.registered_at === version || `the sapling was registered at ${found.registered_at}`;
    },
    compensate: (args, result, key) => {
      if (stored(key)?.registered_at !== result.registered_at) {
        throw new Failure('POLICY_DENIED', 'the entry was changed or removed');
      }
      if (!kv.delete(nameOf(key))) throw new Failure('POLICY_DENIED', 'the entry was removed');
      return new Output(null, { changes: [{ resourceType: 'sapling', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ species, street, plant_by, inspect_after_days }, { externalKey }) => {
    const earlier = stored(externalKey);
    if (earlier !== undefined) return registered(externalKey, earlier);
    const now = new Date();
    if (plant_by < now.toISOString().slice(0, 10)) {
      throw new Failure('INVALID_INPUT', `the sapling had to be planted by ${plant_by}`);
    }
    const sapling = {
      species,
      street,
      registered_at: now.toISOString(),
      inspection: new Date(now.getTime() + inspect_after_days * DAY * 1000).toISOString().slice(0, 10),
    };
    kv.set(nameOf(externalKey), JSON.stringify(sapling));
    return registered(externalKey, sapling);
  },
);
