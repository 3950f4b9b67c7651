import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Lines of a bank statement have 35 characters.
const LINE = 35;

/** Cuts a text between characters, so that no half of a surrogate pair remains. */
const cut = (text, length) => [...text].slice(0, length).join('');

/** Cents for a month: by started metre of length, with a third more for berths with power. */
function fee({ centimetres, power }) {
  const metres = Math.ceil(centimetres / 100);
  const base = metres * 1450;
  return power === 'shore' ? base + Math.floor(base / 3) : base;
}

step(
  'Mooring.Charge',
  {
    description: 'Charges the monthly fees of the berths of a harbour, one charge for each berth.',
    input: object({
      harbour: string({ minLength: 1, maxLength: 60 }),
      year: integer({ minimum: 2000, maximum: 2100 }),
      month: integer({ minimum: 1, maximum: 12 }),
      berths: array(
        object({
          berth: string({ minLength: 1, maxLength: 12 }),
          boat: string({ maxLength: 80 }),
          account: string({ pattern: '^[A-Z0-9]{6,34}$' }),
          centimetres: integer({ minimum: 100, maximum: 12000 }),
          power: schema.oneOf('none', 'shore'),
        }),
        { maxItems: 300 },
      ),
    }),
    output: object({
      charged: array(object({ berth: string(), cents: integer() })),
      refused: array(object({ berth: string(), code: string() })),
      total_cents: integer(),
    }),
    effects: ['external_write'],
    // The answers of the bank decide about the output.
    determinism: 'external',
  },
  ({ harbour, year, month, berths }) => {
    // A berth has one fee in a month. Two entries of one berth would have one action key.
    const seen = new Set();
    for (const { berth } of berths) {
      if (seen.has(berth)) throw new Failure('INVALID_INPUT', `berth ${berth} is listed twice`);
      seen.add(berth);
    }

    const charged = [];
    const refused = [];
    let total = 0;
    for (const one of berths) {
      const cents = fee(one);
      const purpose = cut(`${one.berth} ${year}-${String(month).padStart(2, '0')} ${one.boat}`, LINE);
      try {
        tools.call(
          'Account.Debit',
          { account: one.account, cents, purpose },
          { actionKey: JSON.stringify(['mooring', harbour, one.berth, year, month]) },
        );
      } catch (error) {
        // A final refusal concerns this berth alone. Anything else is no answer of the bank.
        if (!(error instanceof Failure)) throw error;
        refused.push({ berth: one.berth, code: error.code });
        continue;
      }
      charged.push({ berth: one.berth, cents });
      total += cents;
    }
    console.log(`${charged.length} of ${berths.length} berths charged`);
    return { charged, refused, total_cents: total };
  },
);
