// Computes the length of rope that a rig needs, from its knots and spans.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, optional, string } = schema;

/** Rope that a knot uses, in diameters of the rope. */
const KNOTS = new Map([
  ['bowline', 30],
  ['figure eight', 26],
  ['clove hitch', 14],
  ['sheet bend', 22],
  ['prusik', 60],
]);

step(
  'Rope.Measure',
  {
    description: 'Computes the length of rope for a rig.',
    input: object({
      diameter_mm: number({ minimum: 1, maximum: 60 }),
      spans: array(object({ length_m: number({ minimum: 0, maximum: 1000 }), knots: array(string()) })),
      reserve_percent: optional(integer({ minimum: 0, maximum: 100 })),
    }),
    output: object({ rope_m: number(), knots: integer(), by_knot: array(object({ name: string(), count: integer() })) }),
  },
  ({ diameter_mm, spans, reserve_percent = 10 }, context) => {
    if (spans.length === 0) throw new Failure('INVALID_INPUT', 'the rig has no spans');
    const counts = new Map();
    let millimetres = 0;
    for (const [at, { length_m, knots }] of spans.entries()) {
      millimetres += length_m * 1000;
      for (const name of knots) {
        const diameters = KNOTS.get(name);
        if (diameters === undefined) {
          throw new Failure('INVALID_INPUT', `span ${at + 1}: unknown knot ${JSON.stringify(name)} (job ${context.jobId})`, {
            detail: { span: at + 1, known: [...KNOTS.keys()] },
          });
        }
        millimetres += diameters * diameter_mm;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    }
    const byKnot = [...KNOTS.keys()].filter((name) => counts.has(name)).map((name) => ({ name, count: counts.get(name) }));
    const rope = (millimetres * (100 + reserve_percent)) / 100;
    return {
      rope_m: Math.ceil(rope / 10) / 100,
      knots: byKnot.reduce((sum, { count }) => sum + count, 0),
      by_knot: byKnot,
    };
  },
);
