// Chooses the colours of the flags along a street, from the name of the festival.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Seeds by their text, because every line of a street asks for the same ones. */
const seeds = new Map();

step(
  'Bunting.Color',
  {
    description: 'Chooses a colour for each flag of each line, so that no two neighbours are equal.',
    input: object({
      festival: string({ minLength: 1, maxLength: 80 }),
      first_day: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      colors: array(string({ minLength: 1, maxLength: 20 }), { minItems: 2, maxItems: 12, uniqueItems: true }),
      lines: array(integer({ minimum: 1, maximum: 60 }), { minItems: 1, maxItems: 40 }),
    }),
    output: object({ weekday: string(), lines: array(array(string())), flags: integer() }),
  },
  ({ festival, first_day, colors, lines }) => {
    const weekday = weekdayOf(first_day);
    const made = lines.map((length, at) => line(length, colors, generator(`${festival}/${at % 7}`)));
    const flags = lines.reduce((sum, length) => sum + length, 0);
    console.log(`${flags} flags for ${festival}`);
    return { weekday, lines: made, flags };
  },
);

/** Returns the colours of one line. Each flag differs from the flag before it. */
function line(length, colors, next) {
  const flags = [];
  for (let n = 0; n < length; n++) {
    const choice = colors.filter((color) => color !== flags[n - 1]);
    flags.push(choice[next() % choice.length]);
  }
  return flags;
}

/** Returns a generator of numbers that the text determines (xorshift). */
function generator(text) {
  let state = seedOf(text);
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Returns a number other than 0 for a text (FNV-1a). */
function seedOf(text) {
  if (!seeds.has(text)) {
    let hash = 0x811c9dc5;
    for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
    seeds.set(text, hash === 0 ? 1 : hash);
  }
  return seeds.get(text);
}

function weekdayOf(day) {
  const date = new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day) {
    throw new Failure('INVALID_INPUT', `${day} is no day of the calendar`);
  }
  return ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'][date.getUTCDay()];
}
