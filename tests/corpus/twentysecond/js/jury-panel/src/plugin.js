import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const BYTES = 6;

/**
 * Draws one random number of 48 bits for each place. The bytes come in few calls of the host, whatever the number of
 * candidates is.
 */
function drawNumbers(count) {
  const bytes = new Uint8Array(count * BYTES);
  crypto.getRandomValues(bytes);
  const numbers = [];
  for (let at = 0; at < bytes.length; at += BYTES) {
    let number = 0;
    for (let k = 0; k < BYTES; k++) number = number * 256 + bytes[at + k];
    numbers.push(number);
  }
  return numbers;
}

step(
  'Jury.Draw',
  {
    description: 'Draws a panel and its substitutes among the citizens of a list, and dates the summons.',
    input: object({
      court: string({ minLength: 1, maxLength: 60 }),
      citizens: array(string({ pattern: '^[0-9]{1,9}$' }), { minItems: 1, maxItems: 9000 }),
      jurors: integer({ minimum: 1, maximum: 24 }),
      substitutes: integer({ minimum: 0, maximum: 24 }),
    }),
    output: object({
      court: string(),
      jurors: array(string()),
      substitutes: array(string()),
      listed: integer(),
      drawn_on: string(),
      answer_by: string(),
    }),
    // Random numbers and the date differ between jobs.
    determinism: 'stable',
  },
  (input) => {
    const { court, citizens } = input;
    if (new Set(citizens).size !== citizens.length) throw new Failure('INVALID_INPUT', 'a citizen is listed twice');
    const needed = input.jurors + input.substitutes;
    if (citizens.length < needed) {
      throw new Failure('INVALID_INPUT', `${needed} citizens are needed, the list has ${citizens.length}`);
    }

    const numbers = drawNumbers(citizens.length);
    const order = citizens.map((citizen, place) => ({ citizen, number: numbers[place], place }));
    // Equal numbers keep the order of the list.
    order.sort((a, b) => a.number - b.number || a.place - b.place);
    const drawn = order.slice(0, needed).map(({ citizen }) => citizen);

    const now = Date.now();
    const day = (offset) => new Date(now + offset * 86400000).toISOString().slice(0, 10);
    console.log(`${needed} of ${citizens.length} citizens drawn`);
    return {
      court,
      jurors: drawn.slice(0, input.jurors),
      substitutes: drawn.slice(input.jurors),
      listed: citizens.length,
      drawn_on: day(0),
      answer_by: day(21),
    };
  },
);
