import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const entry = (reservoir) => `target/${reservoir}`;

tool(
  'Reservoir.SetTarget',
  {
    description: 'Sets the target level of a reservoir for the gate controller.',
    input: object({
      reservoir: string({ pattern: '^[a-z][a-z0-9-]{0,39}$' }),
      level_cm: integer({ minimum: 0, maximum: 20_000 }),
      spillway_cm: integer({ minimum: 1, maximum: 20_000 }),
    }),
    output: object({ reservoir: string(), level_cm: integer(), reserve_cm: integer() }),
    effects: ['internal_write'],
    verify: ({ resourceType, resourceId }) => {
      if (resourceType !== 'target') throw new Failure('INVALID_INPUT', `${resourceType} is no resource of this tool`);
      return kv.text(resourceId) !== undefined || `the entry ${resourceId} was removed`;
    },
  },
  ({ reservoir, level_cm, spillway_cm }, { externalKey }) => {
    const reserve = spillway_cm - level_cm;
    if (reserve < 50) throw new Failure('INVALID_INPUT', `${level_cm} cm leaves ${reserve} cm below the spillway`);
    const value = JSON.stringify({ level_cm, set_by: externalKey });
    kv.set(entry(reservoir), value);
    return new Output(
      { reservoir, level_cm, reserve_cm: reserve },
      { changes: [{ resourceType: 'target', resourceId: entry(reservoir), operation: 'set', version: value }] },
    );
  },
);
