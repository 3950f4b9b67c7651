import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, oneOf } = schema;

const DAY = 24 * 3600 * 1000;

/** The number of the ISO week: the first week of a year is the one with its first Thursday. */
function isoWeek(day) {
  const thursday = new Date(day);
  thursday.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7));
  const january = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  return Math.ceil(((thursday.getTime() - january) / DAY + 1) / 7);
}

/** The period of a delivery, such as 2024-W07. */
function period(day) {
  return `${day.getUTCFullYear()}-W${String(isoWeek(day)).padStart(2, '0')}`;
}

function readDay(text) {
  const day = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== text) throw new Failure('INVALID_INPUT', `${text} is no day`);
  return day;
}

step(
  'Hamper.PackWeek',
  {
    description: 'Orders the weekly vegetable hampers of a round from the depot, one for each subscriber and week.',
    input: object({
      delivery: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      depot: string({ minLength: 1, maxLength: 40 }),
      subscribers: array(object({ number: integer({ minimum: 1 }), size: oneOf('small', 'family', 'feast') }), { minItems: 1, maxItems: 300 }),
    }),
    output: object({
      week: string(),
      packed: array(object({ number: integer(), hamper: string() })),
      refused: array(object({ number: integer(), reason: string() })),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  (input) => {
    const week = period(readDay(input.delivery));
    const numbers = new Set(input.subscribers.map(({ number }) => number));
    if (numbers.size < input.subscribers.length) throw new Failure('INVALID_INPUT', 'a subscriber is on the round twice');

    const answers = tools.callAll(
      input.subscribers.map(({ number, size }) => ({
        operator: 'Depot.Pack',
        args: { depot: input.depot, subscriber: number, size, delivery: input.delivery },
        // One hamper a week, however often the round is started.
        actionKey: JSON.stringify(['hamper', number, week]),
      })),
    );
    const packed = [];
    const refused = [];
    answers.forEach(({ ok, failure }, at) => {
      const { number } = input.subscribers[at];
      if (failure) refused.push({ number, reason: failure.code });
      else packed.push({ number, hamper: ok.hamper });
    });
    console.log(`${week}: ${packed.length} hampers, ${refused.length} refused`);
    return { week, packed, refused };
  },
);
