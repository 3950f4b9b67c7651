import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const DAY = 86_400_000;

/** Returns the day as a date in UTC. */
function dayOf(text) {
  const day = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) {
    throw new Failure('INVALID_INPUT', `${text} is no day of the calendar`);
  }
  return day;
}

/** Returns the Monday of the week of a day. */
function mondayOf(day) {
  return new Date(day.getTime() - ((day.getUTCDay() + 6) % 7) * DAY);
}

/** Returns the number of the week of a Monday, as ISO 8601 counts: the first week has the first Thursday of the year. */
function weekOf(monday) {
  const thursday = new Date(monday.getTime() + 3 * DAY);
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return Math.floor((thursday.getTime() - first) / (7 * DAY)) + 1;
}

step(
  'Creamery.Standing',
  {
    description: 'Places the weekly standing order of a dairy with the creamery.',
    input: object({
      dairy: string({ minLength: 1, maxLength: 80 }),
      day: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      churns: integer({ minimum: 1, maximum: 400 }),
    }),
    output: object({ week_of: string(), week: integer(), order: string() }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ dairy, day, churns }) => {
    const date = dayOf(day);
    const monday = mondayOf(date);
    const weekStart = monday.toISOString().slice(0, 10);
    const week = weekOf(monday);
    const { order } = tools.call(
      'Creamery.Order',
      { dairy, week_of: weekStart, churns },
      { actionKey: JSON.stringify(['standing', dairy, date.getUTCFullYear(), week, churns]) },
    );
    return { week_of: weekStart, week, order: String(order) };
  },
);
