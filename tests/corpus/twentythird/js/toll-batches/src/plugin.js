import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

/** A plate as the toll system knows it: capitals, without blanks and hyphens. */
const plateOf = (text) => text.toUpperCase().replace(/[ -]/g, '');

/** Sums of the passages of each vehicle, by its plate. The order is that of the list. */
function byVehicle(vehicles) {
  const sums = new Map();
  for (const { plate, passages } of vehicles) {
    const name = plateOf(plate);
    if (name === '') throw new Failure('INVALID_INPUT', `${JSON.stringify(plate)} is no plate`);
    // One plate is one charge. A second entry under the same key would not be charged.
    if (sums.has(name)) throw new Failure('INVALID_INPUT', `vehicle ${name} is listed twice`);
    sums.set(name, passages.reduce((sum, { cents }) => sum + cents, 0));
  }
  return sums;
}

step(
  'Toll.Settle',
  {
    description: 'Charges the bridge tolls of a month for the vehicles of a fleet.',
    input: object({
      fleet: string({ minLength: 1, maxLength: 40 }),
      month: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }),
      vehicles: array(
        object({
          plate: string({ pattern: '^[A-Za-z0-9 -]{1,16}$' }),
          passages: array(
            object({ bridge: string({ maxLength: 40 }), cents: integer({ minimum: 0, maximum: 100000 }) }),
            { maxItems: 60 },
          ),
        }),
        { maxItems: 60 },
      ),
    }),
    output: object({
      month: string(),
      charged: array(object({ plate: string(), cents: integer(), ticket: nullable(string()) })),
      refused: array(object({ plate: string(), cents: integer(), code: string() })),
      without_passages: array(string()),
      cents: integer(),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ fleet, month, vehicles }) => {
    const sums = byVehicle(vehicles);
    const due = [...sums].filter(([, cents]) => cents > 0);
    const without = [...sums].filter(([, cents]) => cents === 0).map(([plate]) => plate);

    // The key has the month with its year, so each month is charged once.
    const calls = due.map(([plate, cents]) => ({
      operator: 'Toll.Charge',
      args: { fleet, plate, cents, month },
      actionKey: JSON.stringify(['bridge-toll', fleet, month, plate]),
    }));
    const answers = tools.callAll(calls);

    const charged = [];
    const refused = [];
    answers.forEach(({ ok, failure }, index) => {
      const [plate, cents] = due[index];
      if (failure === undefined) charged.push({ plate, cents, ticket: typeof ok?.ticket === 'string' ? ok.ticket : null });
      else if (failure instanceof Failure) refused.push({ plate, cents, code: failure.code });
      else throw failure;
    });

    for (const { plate, code } of refused) console.warn(`vehicle ${plate}: ${code}`);
    return {
      month,
      charged,
      refused,
      without_passages: without.sort(),
      cents: charged.reduce((sum, { cents }) => sum + cents, 0),
    };
  },
);
