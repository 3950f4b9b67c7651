import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, oneOf, string, integer } = schema;

// Cents for each kilometre, and the kilometres of a month for which they are paid.
const RATES = { car: 30, bicycle: 12, motorcycle: 20 };
const CAPS = { car: 2000, bicycle: 600, motorcycle: 1500 };

step(
  'Mileage.Claim',
  {
    description: 'Computes what is paid for the trips of a month.',
    input: object({
      trips: array(
        object({ to: string(), vehicle: oneOf('car', 'bicycle', 'motorcycle'), km: integer({ minimum: 1, maximum: 5000 }) }),
        { maxItems: 500 },
      ),
    }),
    output: object({
      vehicles: array(object({ vehicle: string(), km: integer(), cents: integer() })),
      cents: integer(),
    }),
  },
  (input, context) => {
    if (input.trips.length === 0) throw new Failure('INVALID_INPUT', 'the claim has no trips');
    const driven = { car: 0, bicycle: 0, motorcycle: 0 };
    for (const { vehicle, km } of input.trips) driven[vehicle] += km;

    const vehicles = [];
    let cents = 0;
    for (const [vehicle, km] of Object.entries(driven)) {
      if (km === 0) continue;
      const paid = Math.min(km, CAPS[vehicle]);
      if (paid < km) {
        console.warn(`${context.actor} claims ${km} km by ${vehicle}, of which ${paid} are paid`);
      }
      vehicles.push({ vehicle, km: paid, cents: paid * RATES[vehicle] });
      cents += paid * RATES[vehicle];
    }
    return { vehicles, cents };
  },
);
