import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const DAY = 86400000;
const LONGEST = 400;
const RATES = { small: 3900, middle: 5400, large: 8250 };

// Prices of days that were computed before.
const prices = new Map();

function dayOf(text) {
  const [year, month, day] = text.split('-').map(Number);
  const time = Date.UTC(year, month - 1, day);
  if (new Date(time).toISOString().slice(0, 10) !== text) throw new Failure('INVALID_INPUT', `there is no day ${text}`);
  return time / DAY;
}

/** Weekends cost a quarter more, and the high season a tenth. */
function priceOf(van, day) {
  const name = `${van}/${day}`;
  let price = prices.get(name);
  if (price === undefined) {
    const date = new Date(day * DAY);
    const weekend = [0, 6].includes(date.getUTCDay());
    const season = [6, 7].includes(date.getUTCMonth());
    price = RATES[van];
    if (weekend) price += Math.round(RATES[van] / 4);
    if (season) price += Math.round(RATES[van] / 10);
    prices.set(name, price);
  }
  return price;
}

step(
  'Van.Quote',
  {
    description: 'Computes the price of hiring vans, day by day.',
    input: object({
      hires: array(
        object({
          van: { enum: ['small', 'middle', 'large'] },
          from: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
          to: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
        }),
        { maxItems: 50 },
      ),
    }),
    output: object({
      cents: integer(),
      hires: array(object({ van: string(), from: string(), days: integer(), cents: integer() })),
      vans: array(object({ van: string(), days: integer() })),
    }),
  },
  (input) => {
    const days = new Map();
    const hires = input.hires.map(({ van, from, to }) => {
      const first = dayOf(from);
      const last = dayOf(to);
      if (last < first) throw new Failure('INVALID_INPUT', `the hire from ${from} ends before it begins`, { detail: { from, to } });
      if (last - first >= LONGEST) throw new Failure('POLICY_DENIED', `the hire from ${from} is longer than ${LONGEST} days`);
      let cents = 0;
      for (let day = first; day <= last; day++) cents += priceOf(van, day);
      days.set(van, (days.get(van) ?? 0) + last - first + 1);
      console.log(`${van} from ${from}: ${cents}`);
      return { van, from, days: last - first + 1, cents };
    });
    return {
      cents: hires.reduce((sum, hire) => sum + hire.cents, 0),
      hires,
      vans: [...days].map(([van, count]) => ({ van, days: count })).sort((a, b) => b.days - a.days || (a.van < b.van ? -1 : 1)),
    };
  },
);
