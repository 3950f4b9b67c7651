import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const QUARTERS = ['spring', 'summer', 'autumn', 'winter'];

/** Share of the yearly ground rent that is due in each quarter, in percent. The first quarter includes the water. */
const SHARES = [40, 20, 20, 20];

/** Rent of one plot for one quarter, in cents. Rounded up to whole cents. */
function rent(plot, quarter) {
  const yearly = plot.square_metres * plot.cents_per_square_metre;
  return Math.ceil((yearly * SHARES[quarter - 1]) / 100) + (quarter === 1 ? (plot.water_cents ?? 0) : 0);
}

/** Two entries for one plot would be one debit, so the list is refused. */
function refuseDoubles(plots) {
  const seen = new Set();
  for (const { number } of plots) {
    if (seen.has(number)) throw new Failure('INVALID_INPUT', `plot ${number} is listed twice`);
    seen.add(number);
  }
}

step(
  'Rent.Collect',
  {
    description: 'Debits the ground rent of one quarter for the plots of an allotment association.',
    input: object({
      association: string({ minLength: 1, maxLength: 40 }),
      year: integer({ minimum: 2000, maximum: 2100 }),
      quarter: integer({ minimum: 1, maximum: 4 }),
      plots: array(
        object({
          number: integer({ minimum: 1, maximum: 9999 }),
          account: string({ pattern: '^[A-Z]{2}[0-9]{8,30}$' }),
          square_metres: integer({ minimum: 1, maximum: 5000 }),
          cents_per_square_metre: integer({ minimum: 1, maximum: 1000 }),
          water_cents: optional(integer({ minimum: 0, maximum: 100000 })),
        }),
        { maxItems: 200 },
      ),
    }),
    output: object({
      season: string(),
      debited: array(object({ plot: integer(), cents: integer(), reference: string() })),
      failed: array(object({ plot: integer(), code: string() })),
      total_cents: integer(),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ association, year, quarter, plots }) => {
    refuseDoubles(plots);
    const season = `${QUARTERS[quarter - 1]} ${year}`;
    const debited = [];
    const failed = [];

    for (const plot of plots) {
      const cents = rent(plot, quarter);
      // One debit for a plot and a quarter, also if the treasurer starts the run again.
      const actionKey = JSON.stringify(['ground-rent', association, plot.number, quarter]);
      try {
        const answer = tools.call(
          'Bank.Debit',
          { account: plot.account, cents, text: `Ground rent plot ${plot.number}, ${season}` },
          { actionKey },
        );
        debited.push({ plot: plot.number, cents, reference: String(answer.reference) });
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        console.warn(`plot ${plot.number}: ${error.message}`);
        failed.push({ plot: plot.number, code: error.code });
      }
    }

    const total = debited.reduce((sum, { cents }) => sum + cents, 0);
    return { season, debited, failed, total_cents: total };
  },
);
