import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const TIDE = (12 * 60 + 25) * 60 * 1000;

// Labels of days, computed once for each day of a table.
const labels = new Map();

function label(date) {
  const day = date.toISOString().slice(0, -14);
  if (!labels.has(day)) labels.set(day, `${['Su', 'Mo', 'Tu', 'We', 'Th', 'Fr', 'Sa'][date.getUTCDay()]} ${day}`);
  return labels.get(day);
}

step(
  'Tide.Table',
  {
    description: 'Makes a table of high tides from the first high tide and the length of a tide.',
    input: object({
      first: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}Z$' }),
      days: integer({ minimum: 1, maximum: 31 }),
    }),
    output: object({ days: array(object({ day: string(), high: array(string()) })), tides: integer() }),
    determinism: 'pure',
  },
  ({ first, days }) => {
    const start = Date.parse(first.replace('Z', ':00.000Z'));
    if (Number.isNaN(start)) throw new Failure('INVALID_INPUT', `${first} is no time`);
    const end = start + days * 24 * 60 * 60 * 1000;
    const table = new Map();
    let tides = 0;
    for (let at = start; at < end; at += TIDE) {
      const date = new Date(at);
      const day = label(date);
      if (!table.has(day)) table.set(day, []);
      table.get(day).push(date.toISOString().slice(-13, -8));
      tides++;
    }
    events.emit('tide-table', { first, tides });
    // A Map keeps the order in which its keys were set, which is the order of time.
    return { days: [...table].map(([day, high]) => ({ day, high })), tides };
  },
);
