// Waits until a kiln has cooled down, and then says that its door may be opened.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object, optional, string } = schema;

const MINUTE = 60_000;

/** Reads the thermometer of a kiln. A broken thermometer reports no number. */
function temperature(kiln) {
  const reading = tools.call('Kiln.Read', { kiln });
  if (typeof reading.celsius !== 'number') {
    throw new Failure('DEPENDENCY_UNAVAILABLE', `the thermometer of ${kiln} reports no temperature`);
  }
  return reading.celsius;
}

/** A sentence for the person at the kiln. */
function advice(kiln, celsius, first) {
  const fallen = Math.round(first - celsius);
  const trend = fallen > 0 ? `, ${fallen} degrees less than at first` : '';
  return `${kiln} has ${celsius.toFixed(1)} degrees${trend}: the door may be opened`;
}

step(
  'Kiln.AwaitCooling',
  {
    description: 'Reads the temperature of a kiln until the kiln is cool enough to be opened.',
    input: object({
      kiln: string({ minLength: 1, maxLength: 40 }),
      limit: optional(number({ minimum: 20, maximum: 200 })),
      minutes: integer({ minimum: 0, maximum: 240 }),
    }),
    output: object({ kiln: string(), celsius: number(), readings: integer(), advice: string() }),
    determinism: 'external',
  },
  ({ kiln, limit = 90, minutes }) => {
    const end = Date.now() + minutes * MINUTE;
    const first = temperature(kiln);
    let celsius = first;
    let readings = 1;
    while (celsius > limit && Date.now() < end) {
      celsius = temperature(kiln);
      readings += 1;
    }
    if (celsius > limit) {
      const since = `after ${minutes} minutes`;
      throw new Failure('POLICY_DENIED', `${kiln} still has ${celsius.toFixed(1)} degrees ${since}: keep it closed`);
    }
    console.log(`${kiln}: ${readings} readings`);
    return { kiln, celsius, readings, advice: advice(kiln, celsius, first) };
  },
);
