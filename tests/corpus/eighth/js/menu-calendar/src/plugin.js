import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, array } = schema;

// Dates that were already computed in this run, by their text.
const days = new Map();

function dayOf(text) {
  if (!days.has(text)) {
    const [year, month, day] = text.split('-').map(Number);
    days.set(text, new Date(Date.UTC(year, month - 1, day)));
  }
  return days.get(text);
}

step(
  'Menu.Calendar',
  {
    description: 'Puts dishes on the working days from a given day, in the order of their names.',
    input: object({ from: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$' }), dishes: array(string()) }),
    output: object({ days: array(object({ day: string(), dish: string() })) }),
    determinism: 'pure',
  },
  ({ from, dishes }) => {
    if (dishes.length > 100) throw new Failure('INVALID_INPUT', 'more than 100 dishes');
    const unique = [...new Set(dishes)].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const planned = [];
    let time = dayOf(from).getTime();
    for (const dish of unique) {
      while ([0, 6].includes(new Date(time).getUTCDay())) time += 86_400_000;
      planned.push({ day: new Date(time).toISOString().slice(0, 10), dish });
      time += 86_400_000;
    }
    return { days: planned };
  },
);
