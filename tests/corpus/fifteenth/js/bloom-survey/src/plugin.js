import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Stages of a blossom in the order of the season. */
const STAGES = ['dormant', 'green-tip', 'pink', 'bloom', 'petal-fall'];

/** Days until hives should be in the orchard, by the stage of its trees. */
const LEAD_DAYS = { dormant: 21, 'green-tip': 12, pink: 3, bloom: 0, 'petal-fall': -1 };

step(
  'Bloom.Survey',
  {
    description: 'Asks the cameras of all orchards for the stage of their trees and orders the orchards for the hives.',
    input: object({
      season: integer({ minimum: 2000, maximum: 2100 }),
      orchards: array(object({ id: string({ minLength: 1 }), trees: integer({ minimum: 1 }) }), { minItems: 1, maxItems: 200 }),
    }),
    output: object({
      season: integer(),
      route: array(object({ orchard: string(), stage: string(), days: integer(), hives: integer() })),
      finished: array(string()),
    }),
    determinism: 'external',
  },
  (input) => {
    const calls = input.orchards.map(({ id }) => ({ operator: 'Camera.Stage', args: { orchard: id, season: input.season } }));
    const answers = tools.callAll(calls);
    const seen = input.orchards.map((orchard, at) => ({ ...orchard, stage: answers[at].ok.stage }));
    for (const { id, stage } of seen) {
      if (!STAGES.includes(stage)) throw new Failure('SCHEMA_VALIDATION_FAILED', `the camera of ${id} reports the unknown stage ${stage}`);
    }
    const finished = seen.filter(({ stage }) => stage === 'petal-fall').map(({ id }) => id);
    const route = seen
      .filter(({ stage }) => stage !== 'petal-fall')
      .map(({ id, stage, trees }) => ({ orchard: id, stage, days: LEAD_DAYS[stage], hives: Math.ceil(trees / 40) }))
      .sort((a, b) => a.days - b.days || b.hives - a.hives || (a.orchard < b.orchard ? -1 : 1));
    events.emit('bloom-surveyed', { season: input.season, orchards: seen.length });
    return { season: input.season, route, finished };
  },
);
