import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

const AT_ONCE = 4;
const BUSY = new Set(['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE']);

function survey(racks) {
  const readings = new Map();
  const dead = [];
  const waiting = [...racks];
  while (waiting.length > 0) {
    const batch = waiting.splice(0, AT_ONCE);
    const answers = tools.callAll(batch.map((rack) => ({ operator: 'Sensor.Read', args: { rack } })));
    answers.forEach(({ ok, failure }, i) => {
      if (failure === undefined) {
        readings.set(batch[i], ok.celsius);
      } else if (BUSY.has(failure.code)) {
        console.warn(`rack ${batch[i]} is busy: ${failure.message}`);
        waiting.push(batch[i]);
      } else {
        dead.push(batch[i]);
      }
    });
  }
  return { readings, dead };
}

step(
  'Racks.Survey',
  {
    description: 'Reads the temperature of each rack of a room and names the hot ones.',
    input: object({ racks: array(string(), { minItems: 1, maxItems: 60, uniqueItems: true }), limit: number() }),
    output: object({ read: integer(), warmest: number(), hot: array(string()), without_sensor: array(string()) }),
    determinism: 'external',
  },
  ({ racks, limit }) => {
    const { readings, dead } = survey(racks);
    if (readings.size === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', 'no rack of this room has a working sensor');
    const hot = racks.filter((rack) => readings.get(rack) > limit);
    return { read: readings.size, warmest: Math.max(...readings.values()), hot, without_sensor: dead.sort() };
  },
);
