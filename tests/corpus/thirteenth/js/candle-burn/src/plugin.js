// Computes the burning time of a candle and says which wick it needs.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, oneOf, optional, string } = schema;

/** Density in g/cm³, and grams that a flame takes in an hour for each mm² of wick. */
const WAXES = {
  beeswax: { density: 0.96, rate: 1.15 },
  soy: { density: 0.9, rate: 1.4 },
  paraffin: { density: 0.91, rate: 1.6 },
  stearin: { density: 0.94, rate: 1.45 },
};

const candle = object({
  label: string({ minLength: 1, maxLength: 80 }),
  wax: oneOf('beeswax', 'soy', 'paraffin', 'stearin'),
  diameter_mm: integer({ minimum: 10, maximum: 300 }),
  height_mm: integer({ minimum: 10, maximum: 1000 }),
  wick_mm: optional(number({ minimum: 0.5, maximum: 12 })),
});

step(
  'Candle.Burn',
  {
    description: 'Computes mass, wick and burning time of candles.',
    input: object({ candles: array(candle, { minItems: 1, maxItems: 500 }) }),
    output: object({
      candles: array(object({ label: string(), grams: number(), wick_mm: number(), hours: number(), note: string() })),
      longest: string(),
    }),
  },
  ({ candles }, context) => {
    const made = candles.map((one) => burn(one, context));
    const longest = made.reduce((best, one) => (one.hours > best.hours ? one : best));
    return { candles: made, longest: longest.label };
  },
);

function burn({ label, wax, diameter_mm, height_mm, wick_mm }, context) {
  if (height_mm < diameter_mm / 4) throw new Failure('INVALID_INPUT', `${label}: too flat to stand as a candle`);
  const { density, rate } = WAXES[wax];
  const radius = diameter_mm / 20;
  const grams = Math.PI * radius * radius * (height_mm / 10) * density;
  const right = wickFor(diameter_mm);
  const wick = wick_mm ?? right;
  const hours = grams / (rate * wick * wick);
  let note = '';
  if (wick > right * 1.5) {
    note = 'will soot: the wick is too thick';
    console.warn(`${label}: wick ${wick} mm instead of ${right} mm (plan ${context.planId}, ordered by ${context.actor})`);
  } else if (wick < right * 0.6) {
    note = 'will tunnel: the wick is too thin';
  }
  return { label, grams: round(grams, 1), wick_mm: wick, hours: round(hours, 1), note };
}

/** The wick of the table of the guild. */
function wickFor(diameter) {
  if (diameter <= 25) return 1.5;
  if (diameter <= 50) return 2.2;
  if (diameter <= 80) return 3;
  return 4;
}

const round = (value, digits) => Math.round(value * 10 ** digits) / 10 ** digits;
