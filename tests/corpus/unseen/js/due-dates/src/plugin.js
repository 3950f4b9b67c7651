import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;
const DAY = 24 * 60 * 60 * 1000;

step(
  'Invoice.Due',
  {
    description: 'Finds the day on which an invoice is due, and its reminders.',
    input: object({ issued: string(), days: integer({ minimum: 0, maximum: 365 }) }),
    output: object({ due: string(), weekday: integer(), reminders: array(string()) }),
    determinism: 'pure',
  },
  ({ issued, days }) => {
    const [, year, month, day] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(issued) ?? [];
    if (year === undefined) throw new Failure('INVALID_INPUT', 'issued is no date');
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
    for (let left = days; left > 0; ) {
      date.setTime(date.getTime() + DAY);
      if (date.getUTCDay() % 6 !== 0) left -= 1;
    }
    const text = (time) => new Date(time).toISOString().slice(0, 10);
    return {
      due: text(date.getTime()),
      weekday: date.getUTCDay(),
      reminders: [1, 2, 3].map((week) => text(date.getTime() + week * 7 * DAY)),
    };
  },
);
