import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, optional, string } = schema;

// Cents for each started 100 kg, by zone.
const TARIFF = { near: 1850, regional: 3200, far: 5475 };
const HANDLING = 2500;

/** Weight that is charged: a cubic metre counts as 333 kg. */
function chargeable({ kilograms, litres }) {
  return Math.max(kilograms, Math.ceil((litres * 333) / 1000));
}

step(
  'Freight.Quote',
  {
    description: 'Quotes the price of a road freight, with the fuel surcharge if the customer pays by the current price of diesel.',
    input: object({
      customer: string({ minLength: 1, maxLength: 80 }),
      zone: oneOf('near', 'regional', 'far'),
      pallets: array(
        object({
          kilograms: integer({ minimum: 1, maximum: 1500 }),
          litres: integer({ minimum: 1, maximum: 3000 }),
        }),
        { minItems: 1, maxItems: 33 },
      ),
      fuel: optional(oneOf('fixed', 'floating')),
    }),
    output: object({
      quote: string(),
      customer: string(),
      weight: integer(),
      base_cents: integer(),
      surcharge_cents: integer(),
      total_cents: integer(),
    }),
    // The number of the quote is random, so it differs between jobs.
    determinism: 'stable',
  },
  (input) => {
    const weight = input.pallets.reduce((sum, pallet) => sum + chargeable(pallet), 0);
    if (weight > 24000) throw new Failure('INVALID_INPUT', `${weight} kg are more than one truck carries`);
    const base = HANDLING + Math.ceil(weight / 100) * TARIFF[input.zone];

    let surcharge = 0;
    if (input.fuel === 'floating') {
      const answer = tools.call('Diesel.Price', { country: 'DE' });
      const cents = answer?.cents_per_litre;
      if (!Number.isInteger(cents) || cents < 1 || cents > 1000) {
        throw new Failure('DEPENDENCY_UNAVAILABLE', 'the price of diesel is not usable');
      }
      // One percent for each 5 cents above 140 cents.
      const percent = Math.max(0, Math.floor((cents - 140) / 5));
      surcharge = Math.round((base * percent) / 100);
    }

    const quote = `Q-${crypto.randomUUID().slice(0, 13).toUpperCase()}`;
    return {
      quote,
      customer: input.customer,
      weight,
      base_cents: base,
      surcharge_cents: surcharge,
      total_cents: base + surcharge,
    };
  },
);
