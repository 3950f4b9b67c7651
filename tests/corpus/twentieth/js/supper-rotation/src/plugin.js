// Seats the guests of a supper again for each course.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** A number of 32 bits that follows from a text. */
function seedOf(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193) >>> 0;
  return hash;
}

/** A generator of whole numbers below a bound, whose numbers follow from the seed. */
function generator(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

function shuffled(list, below) {
  const order = [...list];
  for (let last = order.length - 1; last > 0; last--) {
    const other = below(last + 1);
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/** The text of a place card: the first twelve characters of a name. */
const card = (name) => [...name].slice(0, 12).join('').trim();

step(
  'Supper.Seat',
  {
    description: 'Draws a seating for each course of a supper from the name of the evening.',
    input: object({
      evening: string({ minLength: 1, maxLength: 80 }),
      guests: array(string({ minLength: 1, maxLength: 60 }), { minItems: 2, maxItems: 200 }),
      seats_per_table: integer({ minimum: 2, maximum: 12 }),
      courses: integer({ minimum: 1, maximum: 8 }),
    }),
    output: object({ evening: string(), courses: array(array(array(string()))) }),
  },
  ({ evening, guests, seats_per_table, courses }) => {
    const twice = guests.find((guest, at) => guests.indexOf(guest) !== at);
    if (twice !== undefined) throw new Failure('INVALID_INPUT', `${twice} is invited twice`);
    const below = generator(seedOf(evening));
    const seatings = Array.from({ length: courses }, () => {
      const order = shuffled(guests, below);
      const tables = [];
      for (let at = 0; at < order.length; at += seats_per_table) {
        tables.push(order.slice(at, at + seats_per_table).map(card));
      }
      return tables;
    });
    return { evening, courses: seatings };
  },
);
