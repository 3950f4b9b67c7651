import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const DAY = 86_400_000;

// The midnight of a day, or a failure for a day such as 30 February.
function midnight(day) {
  const time = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(time) || new Date(time).toISOString().slice(0, 10) !== day) {
    throw new Failure('INVALID_INPUT', `${day} is no day of the calendar`);
  }
  return time;
}

// The number of the ISO week: the week of a day is the week of its Thursday.
function weekNumber(time) {
  const weekday = (new Date(time).getUTCDay() + 6) % 7;
  const thursday = new Date(time + (3 - weekday) * DAY);
  const newYear = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return 1 + Math.floor((thursday.getTime() - newYear) / (7 * DAY));
}

function weekOf(day) {
  const number = String(weekNumber(midnight(day))).padStart(2, '0');
  return `${day.slice(0, 4)}-W${number}`;
}

// Adds up the counts of equal items, and sorts by name.
function combined(items) {
  const counts = new Map();
  for (const { item, count } of items) counts.set(item, (counts.get(item) ?? 0) + count);
  return [...counts.keys()].sort().map((item) => ({ item, count: counts.get(item) }));
}

step(
  'Basket.Order',
  {
    description: 'Orders the vegetables of a household from a farm, once for each week.',
    input: object({
      household: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      farm: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      day: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
      items: array(
        object({ item: string({ minLength: 1, maxLength: 60 }), count: integer({ minimum: 1, maximum: 100 }) }),
        { minItems: 1, maxItems: 50 },
      ),
    }),
    output: object({ order: string(), week: string(), pieces: integer() }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ household, farm, day, items }) => {
    const week = weekOf(day);
    const lines = combined(items);
    const answer = tools.call(
      'Farm.Order',
      { household, farm, week, lines },
      { actionKey: JSON.stringify(['basket', household, farm, week]) },
    );
    if (typeof answer?.order !== 'string') {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the farm ${farm} gave no order number`);
    }
    const pieces = lines.reduce((sum, { count }) => sum + count, 0);
    return { order: answer.order, week, pieces };
  },
);
