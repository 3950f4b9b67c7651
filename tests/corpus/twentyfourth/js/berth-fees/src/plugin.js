// Bills the visitors' berths of a harbour: one charge in the ledger for each berth and night.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Fees in cents for one night, by the length of the vessel.
const fee = (metres) => {
  if (metres <= 8) return 1800;
  if (metres <= 12) return 2600;
  return 2600 + 250 * (metres - 12);
};

const stay = object({
  berth: string({ pattern: '^[A-Z][0-9]{1,3}$' }),
  night: integer({ minimum: 1, maximum: 366 }),
  vessel: string({ minLength: 1, maxLength: 60 }),
  metres: integer({ minimum: 1, maximum: 80 }),
});

step(
  'Berth.Bill',
  {
    description: 'Charges each stay of a harbour to the ledger, once for each berth and night of the season.',
    input: object({
      harbour: string({ pattern: '^[a-z]{2,20}$' }),
      season: integer({ minimum: 2000, maximum: 2100 }),
      stays: array(stay, { maxItems: 400 }),
    }),
    output: object({
      entries: array(object({ berth: string(), night: integer(), entry: string() })),
      total_cents: integer(),
    }),
    effects: ['internal_write'],
    determinism: 'external',
  },
  ({ harbour, season, stays }) => {
    if (stays.length === 0) throw new Failure('INVALID_INPUT', 'there are no stays to bill');
    const taken = new Set();
    for (const { berth, night } of stays) {
      const place = JSON.stringify([berth, night]);
      if (taken.has(place)) throw new Failure('INVALID_INPUT', `berth ${berth} is billed twice for night ${night}`);
      taken.add(place);
    }
    const entries = [];
    let total = 0;
    for (const { berth, night, vessel, metres } of stays) {
      const cents = fee(metres);
      const answer = tools.call(
        'Ledger.Charge',
        { account: `berths-${harbour}`, vessel, cents },
        { actionKey: `berth-fee/${harbour}/${season}/${berth}${night}` },
      );
      if (typeof answer?.entry !== 'string') throw new Failure('SCHEMA_VALIDATION_FAILED', 'the ledger named no entry');
      entries.push({ berth, night, entry: answer.entry });
      total += cents;
    }
    return { entries, total_cents: total };
  },
);
