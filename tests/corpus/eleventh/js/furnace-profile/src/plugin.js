import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

const ramp = object({ minutes: integer({ minimum: 1, maximum: 1440 }), celsius: integer({ minimum: 20, maximum: 1400 }) });
const entry = (furnace) => `profile/${furnace}`;

tool(
  'Furnace.SetProfile',
  {
    description: 'Sets the heating profile of a furnace. An undo puts the earlier profile back.',
    input: object({
      furnace: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      ramps: array(ramp, { minItems: 1, maxItems: 50 }),
    }),
    output: object({ furnace: string(), ramps: integer(), earlier: nullable(string()) }),
    effects: ['internal_write'],
    compensate: ({ furnace }, { earlier }) => {
      if (earlier === null) {
        kv.delete(entry(furnace));
      } else {
        kv.set(entry(furnace), earlier);
      }
      return { furnace, restored: earlier !== null };
    },
  },
  ({ furnace, ramps }) => {
    const total = ramps.reduce((sum, { minutes }) => sum + minutes, 0);
    if (total > 4320) throw new Failure('INVALID_INPUT', `a profile of ${total} minutes is longer than three days`);
    for (let i = 1; i < ramps.length; i++) {
      const rate = Math.abs(ramps[i].celsius - ramps[i - 1].celsius) / ramps[i].minutes;
      if (rate > 15) throw new Failure('INVALID_INPUT', `ramp ${i + 1} changes by more than 15 degrees a minute`);
    }
    const earlier = kv.text(entry(furnace)) ?? null;
    kv.set(entry(furnace), JSON.stringify(ramps));
    return { furnace, ramps: ramps.length, earlier };
  },
);
