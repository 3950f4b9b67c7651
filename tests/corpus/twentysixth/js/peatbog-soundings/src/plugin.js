import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

step(
  'Peat.Survey',
  {
    description: 'Reads the depth of the peat at each stake of a bog.',
    input: object({
      bog: string({ minLength: 1 }),
      stakes: array(string({ minLength: 1 }), { minItems: 1, maxItems: 60, uniqueItems: true }),
    }),
    output: object({
      depths: array(object({ stake: string(), cm: integer() })),
      deepest: string(),
      mean_cm: number(),
    }),
    determinism: 'external',
  },
  ({ bog, stakes }) => {
    const waiting = [...stakes];
    const read = new Map();
    while (waiting.length > 0) {
      const stake = waiting.shift();
      try {
        const { cm } = tools.call('Probe.Read', { bog, stake });
        if (!Number.isInteger(cm) || cm < 0) throw new Failure('SCHEMA_VALIDATION_FAILED', `the probe at ${stake} has no depth`);
        read.set(stake, cm);
      } catch (failure) {
        if (!(failure instanceof Failure) || failure.code !== 'NETWORK_TIMEOUT') throw failure;
        console.warn(`${stake} did not answer, and gets its turn after the others`);
        waiting.push(stake);
      }
    }

    const depths = stakes.map((stake) => ({ stake, cm: read.get(stake) }));
    const deepest = depths.reduce((most, one) => (one.cm > most.cm ? one : most));
    const sum = depths.reduce((total, { cm }) => total + cm, 0);
    return { depths, deepest: deepest.stake, mean_cm: Math.round((sum / depths.length) * 10) / 10 };
  },
);
