// Orders events by their dates and names the gaps between them. Dates are only read from texts and computed in UTC. A
// table keeps the parsed dates for the rest of the run.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const parsed = new Map();

function dayOf(text) {
  if (!parsed.has(text)) {
    const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
    const time = parts ? Date.UTC(Number(parts[1]), Number(parts[2]) - 1, Number(parts[3])) : NaN;
    const valid = !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
    parsed.set(text, valid ? time / 86400000 : undefined);
  }
  const day = parsed.get(text);
  if (day === undefined) throw new Failure('INVALID_INPUT', `"${[...text].slice(0, 20).join('')}" is no date`);
  return day;
}

step(
  'Event.Order',
  {
    description: 'Orders events by date.',
    input: object({ events: array(object({ name: string(), date: string() }), { maxItems: 200 }) }),
    output: object({ events: array(object({ name: string(), after: integer() })), days: array(string()) }),
    determinism: 'pure',
  },
  ({ events }) => {
    const sorted = events.map((event, at) => ({ ...event, at, day: dayOf(event.date) }));
    sorted.sort((a, b) => a.day - b.day || a.at - b.at);
    const days = new Set(sorted.map(({ day }) => new Date(day * 86400000).toISOString().slice(0, 10)));
    return {
      events: sorted.map(({ name, day }, at) => ({ name, after: at === 0 ? 0 : day - sorted[at - 1].day })),
      days: [...days],
    };
  },
);
