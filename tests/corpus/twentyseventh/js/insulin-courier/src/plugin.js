import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, boolean, nullable } = schema;

// In the order of preference. A parcel that the first courier cannot take now is offered to the second.
const COURIERS = ['Coolbike.Book', 'Frostvan.Book'];

// The courier itself could not take the parcel. Nothing was booked: a call whose outcome is open does not get here with
// one of these codes.
const BUSY = ['RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'NETWORK_TIMEOUT', 'TRANSIENT_DB_LOCK'];

/** One booking: a parcel, with one courier, on one day. */
const action = (courier, order, day) => JSON.stringify(['insulin', courier, order, day]);

/** Books a parcel with the first courier that takes it. The host has made the retries of each call. */
function book(parcel, day) {
  const refusals = [];
  for (const courier of COURIERS) {
    try {
      const { booking, eta } = tools.call(
        courier,
        { order: parcel.order, address: parcel.address, units: parcel.units, day },
        { actionKey: action(courier, parcel.order, day) },
      );
      return { order: parcel.order, booking, eta, refusals };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      refusals.push(`${courier}: ${error.code}`);
      // A person or a policy said no, the parcel is wrong, or a call was given up: another courier is no way around that.
      if (!BUSY.includes(error.code) || error.applied !== 'no') break;
    }
  }
  return { order: parcel.order, booking: null, eta: null, refusals };
}

function refuseDoubles(parcels) {
  const seen = new Set();
  for (const { order } of parcels) {
    if (seen.has(order)) throw new Failure('INVALID_INPUT', `the order ${order} is in the list twice`);
    seen.add(order);
  }
}

step(
  'Insulin.Dispatch',
  {
    description: 'Books a cooled courier for each parcel of a day.',
    input: object({
      day: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      parcels: array(
        object({ order: string({ minLength: 1, maxLength: 40 }), address: string({ minLength: 1, maxLength: 300 }), units: integer({ minimum: 1, maximum: 40 }) }),
        { minItems: 1, maxItems: 200 },
      ),
    }),
    output: object({
      all_booked: boolean(),
      parcels: array(object({ order: string(), booking: nullable(string()), eta: nullable(string()), refusals: array(string()) })),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ day, parcels }) => {
    refuseDoubles(parcels);
    const booked = parcels.map((parcel) => book(parcel, day));
    const missing = booked.filter(({ booking }) => booking === null).map(({ order }) => order);
    if (missing.length > 0) console.warn(`no courier for ${missing.join(', ')}`);
    return { all_booked: missing.length === 0, parcels: booked };
  },
);
