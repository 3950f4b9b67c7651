import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, nullable, object, string } = schema;

const TRIES = 3;
const PASSING = ['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'TRANSIENT_DB_LOCK', 'DEPENDENCY_UNAVAILABLE'];

/** Reads the gauge of the tank. A failure that may pass is tried again, three times in all. */
function litresIn(station) {
  for (let round = 1; ; round++) {
    try {
      const litres = tools.call('Tank.Gauge', { station })?.litres;
      if (typeof litres !== 'number' || litres < 0) throw new Failure('SCHEMA_VALIDATION_FAILED', `the gauge of ${station} shows no litres`);
      return litres;
    } catch (failure) {
      if (!(failure instanceof Failure) || !PASSING.includes(failure.code) || round === TRIES) throw failure;
      console.warn(`round ${round}: ${failure.code}`);
    }
  }
}

step(
  'Lighthouse.Oil',
  {
    description: 'Orders the monthly oil of a lighthouse if its tank is low.',
    input: object({
      station: string({ minLength: 1, maxLength: 80 }),
      month: string({ pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$' }),
      reserve: integer({ minimum: 0, maximum: 20000 }),
      litres: integer({ minimum: 1, maximum: 20000 }),
    }),
    output: object({ ordered: boolean(), order: nullable(string()), seen_at: string() }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ station, month, reserve, litres }) => {
    const left = litresIn(station);
    const seenAt = new Date().toISOString();
    if (left >= reserve) return { ordered: false, order: null, seen_at: seenAt };
    const args = { station, month, litres };
    const answer = tools.call('Oil.Order', args, { actionKey: JSON.stringify(['oil', station, month, litres]) });
    return { ordered: true, order: typeof answer?.order === 'string' ? answer.order : null, seen_at: seenAt };
  },
);
