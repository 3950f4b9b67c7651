import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

/** Kilograms that a cubic metre counts at least, by mode of transport. */
const VOLUME_WEIGHT = { road: 333, rail: 250, sea: 1000 };

/** Upper bound of each weight band in kilograms, and its price in cents for 100 kg. */
const BANDS = [
  { upTo: 100, cents: 4200 },
  { upTo: 500, cents: 3100 },
  { upTo: 2500, cents: 2250 },
  { upTo: 24000, cents: 1480 },
];

const ZONE_PERCENT = { domestic: 100, neighbour: 135, overseas: 210 };

/** Weight that is charged for one line: the real weight, or the weight of its volume if that is greater. */
function chargeable(line, mode) {
  const cubicCentimetres = line.length_cm * line.width_cm * line.height_cm * line.pieces;
  const byVolume = Math.ceil((cubicCentimetres * VOLUME_WEIGHT[mode]) / 1e6);
  return Math.max(line.kilograms * line.pieces, byVolume);
}

step(
  'Freight.Quote',
  {
    description: 'Quotes the price of a shipment from its weight, volume and zone.',
    input: object({
      mode: oneOf('road', 'rail', 'sea'),
      zone: oneOf('domestic', 'neighbour', 'overseas'),
      lines: array(
        object({
          goods: string({ minLength: 1, maxLength: 80 }),
          pieces: integer({ minimum: 1, maximum: 500 }),
          kilograms: integer({ minimum: 1, maximum: 5000 }),
          length_cm: integer({ minimum: 1, maximum: 1400 }),
          width_cm: integer({ minimum: 1, maximum: 300 }),
          height_cm: integer({ minimum: 1, maximum: 300 }),
        }),
        { minItems: 1, maxItems: 100 },
      ),
    }),
    output: object({
      lines: array(object({ goods: string(), chargeable_kg: integer() })),
      chargeable_kg: integer(),
      band_up_to_kg: integer(),
      cents: integer(),
    }),
  },
  ({ mode, zone, lines }, context) => {
    if (mode === 'road' && zone === 'overseas') {
      throw new Failure('INVALID_INPUT', 'there is no road transport to overseas zones');
    }

    const weighed = lines.map((line) => ({ goods: line.goods, chargeable_kg: chargeable(line, mode) }));
    const total = weighed.reduce((sum, line) => sum + line.chargeable_kg, 0);

    const band = BANDS.find(({ upTo }) => total <= upTo);
    if (band === undefined) {
      // Full loads have no list price. The sales desk looks the request up by its reference.
      throw new Failure('POLICY_DENIED', `${total} kg is a full load, which the sales desk has to quote`, {
        detail: { chargeable_kg: total, desk: 'full-loads', reference: context.correlationId },
      });
    }

    const base = Math.ceil((total * band.cents) / 100);
    const cents = Math.ceil((base * ZONE_PERCENT[zone]) / 100);
    return { lines: weighed, chargeable_kg: total, band_up_to_kg: band.upTo, cents };
  },
);
