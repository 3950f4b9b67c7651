import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

// The numbers of ways that are computed already, by planks and width.
const ways = new Map();

/** Counts the rows of planks, in any order, that fill a width. The depth is at most the width: 60. */
function count(planks, width) {
  if (width === 0) return 1n;
  const key = `${planks.join(' ')}|${width}`;
  const before = ways.get(key);
  if (before !== undefined) return before;
  let sum = 0n;
  for (const plank of planks) {
    if (plank <= width) sum += count(planks, width - plank);
  }
  ways.set(key, sum);
  return sum;
}

step(
  'Scaffold.Layouts',
  {
    description: 'Counts the layouts of planks for a scaffold, and names the weekday of its delivery.',
    input: object({
      width_dm: integer({ minimum: 1, maximum: 60 }),
      planks_dm: array(integer({ minimum: 1, maximum: 60 }), { minItems: 1, maxItems: 20 }),
      delivery: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' }),
    }),
    // The number of layouts can have more digits than a JSON number holds.
    output: object({ layouts: string(), weekday: oneOf(...DAYS) }),
    determinism: 'pure',
  },
  ({ width_dm, planks_dm, delivery }) => {
    const [year, month, date] = delivery.split('-').map(Number);
    const day = new Date(Date.UTC(year, month - 1, date));
    if (day.getUTCDate() !== date) throw new Failure('INVALID_INPUT', `there is no day ${delivery}`);
    const planks = [...new Set(planks_dm)].sort((a, b) => a - b);
    return { layouts: String(count(planks, width_dm)), weekday: DAYS[day.getUTCDay()] };
  },
);
