// Finds the coordinates of the addresses of a mailing, in batches.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, number, object, optional, string } = schema;

/** Codes of a service that has too much to do. A smaller batch is easier to serve. */
const OVERLOADED = ['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE'];

const place = object({ address: string(), lat: nullable(number()), lon: nullable(number()) });

step(
  'Mailing.Locate',
  {
    description: 'Finds the coordinates of addresses, in batches that shrink while the service is overloaded.',
    input: object({
      addresses: array(string({ minLength: 1, maxLength: 120 }), { minItems: 1, maxItems: 1000 }),
      batch: optional(integer({ minimum: 1, maximum: 100 })),
    }),
    output: object({ places: array(place), missing: integer() }),
    determinism: 'external',
  },
  ({ addresses, batch = 50 }) => {
    const places = [];
    let size = batch;
    while (places.length < addresses.length) {
      const part = addresses.slice(places.length, places.length + size);
      const found = lookUp(part);
      if (found === undefined) {
        size = Math.max(1, Math.floor(size / 2));
        console.warn(`the service is overloaded, next batch has ${size} addresses`);
        continue;
      }
      places.push(...found);
    }
    return { places, missing: places.filter(({ lat }) => lat === null).length };
  },
);

/** Returns the places of a batch, or undefined if the service could not serve it now. */
function lookUp(part) {
  let answer;
  try {
    answer = tools.call('Geo.Lookup', { addresses: part });
  } catch (failure) {
    if (failure instanceof Failure && OVERLOADED.includes(failure.code)) return undefined;
    throw failure;
  }
  const hits = Array.isArray(answer?.hits) ? answer.hits : [];
  if (hits.length !== part.length) {
    throw new Failure('SCHEMA_VALIDATION_FAILED', `the service answered ${hits.length} of ${part.length} addresses`);
  }
  return part.map((address, at) => {
    const { lat, lon } = hits[at] ?? {};
    const known = typeof lat === 'number' && typeof lon === 'number';
    return { address, lat: known ? lat : null, lon: known ? lon : null };
  });
}
