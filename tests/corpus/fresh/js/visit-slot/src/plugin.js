import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Sets the parts of a UTC time, all of them from the input.
function at({ year, month, day }, hour, minute) {
  const time = new Date();
  time.setUTCFullYear(year, month - 1, day);
  time.setUTCHours(hour, minute);
  return time;
}

step(
  'Visit.Slots',
  {
    description: 'Lists the times of a day at which a visit can begin.',
    input: object({
      year: integer({ minimum: 2000, maximum: 2100 }),
      month: integer({ minimum: 1, maximum: 12 }),
      day: integer({ minimum: 1, maximum: 31 }),
      minutes: integer({ minimum: 10, maximum: 240 }),
    }),
    output: object({ slots: array(string()) }),
    determinism: 'pure',
  },
  (input) => {
    const { month, day, minutes } = input;
    const opens = at(input, 9, 0);
    if (opens.getUTCMonth() + 1 !== month) throw new Failure('INVALID_INPUT', `month ${month} has no day ${day}`);
    const closes = at(input, 17, 0);
    const slots = [];
    for (let begin = opens; begin < closes; begin = new Date(begin.getTime() + minutes * 60_000)) {
      slots.push(begin.toISOString());
    }
    return { slots };
  },
);
