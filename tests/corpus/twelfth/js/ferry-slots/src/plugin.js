// Finds the first sailing with room for a vehicle, and holds a place on it.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const RETRYABLE = ['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'TRANSIENT_DB_LOCK', 'DEPENDENCY_UNAVAILABLE'];

step(
  'Ferry.Choose',
  {
    description: 'Chooses the first sailing that has room for a vehicle.',
    input: object({
      route: string({ minLength: 1 }),
      vehicle_m: integer({ minimum: 1, maximum: 30 }),
      sailings: array(string(), { maxItems: 20 }),
    }),
    output: object({ sailing: string(), free_m: integer(), asked: integer() }),
    // External: the room on a ferry changes.
    determinism: 'external',
  },
  ({ route, vehicle_m, sailings }) => {
    let asked = 0;
    for (const sailing of sailings) {
      const free_m = room(route, sailing)?.free_m;
      asked += 1;
      if (!Number.isSafeInteger(free_m)) {
        throw new Failure('SCHEMA_VALIDATION_FAILED', `the deck of ${sailing} has no usable length`);
      }
      if (free_m >= vehicle_m) {
        console.log(`${sailing} has ${free_m} m for a vehicle of ${vehicle_m} m`);
        return { sailing, free_m, asked };
      }
    }
    throw new Failure('MISSING_REQUIRED_CONTEXT', `no sailing on ${route} has ${vehicle_m} m of room`);
  },
);

/** Asks for the room on a sailing. The booking system is often down for a moment. */
function room(route, sailing) {
  for (;;) {
    try {
      return tools.call('Ferry.Room', { route, sailing });
    } catch (error) {
      if (!(error instanceof Failure) || !RETRYABLE.includes(error.code)) throw error;
      console.warn(`no answer for ${sailing} (${error.code}), asking again`);
    }
  }
}
