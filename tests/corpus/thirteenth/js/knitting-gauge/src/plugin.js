// Converts the measures of a garment into stitches and rows, with the yarns of the shop's configuration.

import { config, Failure, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, optional, string } = schema;

/** Stitches and rows on 10 cm, for yarns that the configuration does not name. */
const USUAL = { lace: [34, 46], fingering: [28, 38], dk: [22, 30], aran: [18, 24], bulky: [13, 18] };

const part = object({
  name: string({ minLength: 1, maxLength: 60 }),
  width_cm: number({ minimum: 1, maximum: 300 }),
  length_cm: number({ minimum: 1, maximum: 300 }),
  multiple: optional(integer({ minimum: 1, maximum: 60 })),
});

tool(
  'Knitting.Gauge',
  {
    description: 'Computes stitches and rows of the parts of a garment.',
    input: object({ yarn: string({ minLength: 1, maxLength: 60 }), parts: array(part, { minItems: 1, maxItems: 50 }) }),
    output: object({ yarn: string(), parts: array(object({ name: string(), stitches: integer(), rows: integer() })), total: integer() }),
    effects: ['read_only'],
    // It reads its configuration, and nothing else.
    determinism: 'pure',
  },
  ({ yarn, parts }) => {
    const [stitches, rows] = gaugeOf(yarn);
    let total = 0;
    const made = parts.map(({ name, width_cm, length_cm, multiple = 1 }) => {
      const wanted = (width_cm * stitches) / 10;
      const across = Math.max(1, Math.round(wanted / multiple)) * multiple;
      // An even number of rows: the work ends on the same side.
      const up = Math.max(2, 2 * Math.round((length_cm * rows) / 20));
      total += across * up;
      return { name, stitches: across, rows: up };
    });
    return { yarn, parts: made, total };
  },
);

function gaugeOf(yarn) {
  const own = config.get('yarns') ?? {};
  const gauge = named(own, yarn) ?? named(USUAL, yarn);
  if (gauge === undefined) throw new Failure('INVALID_INPUT', `there is no gauge for the yarn ${yarn}`);
  const right = Array.isArray(gauge) && gauge.length === 2 && gauge.every((n) => Number.isInteger(n) && n > 0 && n <= 100);
  if (!right) throw new Failure('MISSING_REQUIRED_CONTEXT', `config: the yarn ${yarn} needs stitches and rows on 10 cm`);
  return gauge;
}

function named(table, yarn) {
  return Object.hasOwn(table, yarn) ? table[yarn] : undefined;
}
