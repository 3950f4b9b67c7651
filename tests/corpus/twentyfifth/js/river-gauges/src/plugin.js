import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Gauges answer slowly while their modem dials in.
const BUSY = ['RATE_LIMIT', 'NETWORK_TIMEOUT', 'TEMPORARY_PROVIDER_ERROR'];

function reading(gauge) {
  let level;
  while (level === undefined) {
    try {
      const answer = tools.call('Gauge.Read', { gauge });
      if (!Number.isSafeInteger(answer?.centimetres)) throw new Failure('DEPENDENCY_UNAVAILABLE', `${gauge} sent no level`);
      level = answer.centimetres;
    } catch (error) {
      if (!(error instanceof Failure) || !BUSY.includes(error.code)) throw error;
      console.log(`${gauge} is busy: ${error.message}`);
    }
  }
  return level;
}

function stage(level, { warn, alarm }) {
  if (level >= alarm) return 'alarm';
  return level >= warn ? 'warning' : 'normal';
}

step(
  'River.Survey',
  {
    description: 'Reads the gauges of a river and grades their levels.',
    input: object({
      river: string({ minLength: 1, maxLength: 60 }),
      gauges: array(
        object({
          id: string({ pattern: '^[a-z]{1,20}$' }),
          warn: integer({ minimum: 0, maximum: 5000 }),
          alarm: integer({ minimum: 0, maximum: 5000 }),
        }),
        { maxItems: 60 },
      ),
    }),
    output: object({
      river: string(),
      highest: string(),
      gauges: array(object({ id: string(), centimetres: integer(), stage: string() })),
    }),
    determinism: 'external',
  },
  (input) => {
    for (const { id, warn, alarm } of input.gauges) {
      if (warn > alarm) throw new Failure('INVALID_INPUT', `gauge ${id}: the warning level is above the alarm level`);
    }
    const gauges = input.gauges.map((gauge) => {
      const centimetres = reading(gauge.id);
      return { id: gauge.id, centimetres, stage: stage(centimetres, gauge) };
    });
    const grades = ['normal', 'warning', 'alarm'];
    const highest = gauges.reduce((worst, one) => Math.max(worst, grades.indexOf(one.stage)), 0);
    return { river: input.river, highest: grades[highest], gauges };
  },
);
