import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, oneOf, string } = schema;

const BUSY = new Set(['RATE_LIMIT', 'NETWORK_TIMEOUT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE']);

// Reads one station. The modem of a station answers only in some minutes of the hour, so a busy station is asked again.
function level(station) {
  let asked = 0;
  for (;;) {
    asked += 1;
    try {
      const answer = tools.call('Gauge.Read', { station });
      return { station, asked, centimeters: answer.centimeters };
    } catch (error) {
      if (!(error instanceof Failure) || !BUSY.has(error.code)) throw error;
      console.warn(`${station} is busy, question ${asked}`);
    }
  }
}

// The state of the marsh follows from the median, so that one stuck float does not count.
function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

step(
  'Marsh.Level',
  {
    description: 'Reads the gauges of a marsh and states how wet it is.',
    input: object({
      stations: array(string({ minLength: 1 }), { minItems: 1, maxItems: 40 }),
      dry_below: number(),
      flood_above: number(),
    }),
    output: object({
      median: number(),
      state: oneOf('dry', 'normal', 'flood'),
      readings: array(object({ station: string(), asked: integer(), centimeters: number() })),
    }),
    determinism: 'external',
  },
  (input) => {
    if (input.dry_below >= input.flood_above) {
      throw new Failure('INVALID_INPUT', 'the dry mark is not below the flood mark');
    }
    const repeated = input.stations.find((station, at) => input.stations.indexOf(station) !== at);
    if (repeated !== undefined) throw new Failure('INVALID_INPUT', `station ${repeated} is in the list twice`);
    const readings = input.stations.map(level);
    const middle = median(readings.map((reading) => reading.centimeters));
    let state = 'normal';
    if (middle < input.dry_below) state = 'dry';
    if (middle > input.flood_above) state = 'flood';
    return { median: middle, state, readings };
  },
);
