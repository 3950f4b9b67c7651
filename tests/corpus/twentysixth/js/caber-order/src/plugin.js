import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Hashes a text to 32 bits: FNV-1a over its UTF-16 units. */
function hashed(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Returns a generator of numbers below a bound, with its own seed. */
function seeded(seed) {
  let state = seed | 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

const byCodeUnits = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

step(
  'Caber.Order',
  {
    description: 'Draws the order in which the throwers of a highland games toss the caber.',
    input: object({
      games: string({ minLength: 1, maxLength: 120 }),
      rounds: integer({ minimum: 1, maximum: 5 }),
      throwers: array(string({ minLength: 1, maxLength: 80 }), { minItems: 1, maxItems: 300 }),
    }),
    output: object({ rounds: array(array(string())) }),
  },
  ({ games, rounds, throwers }) => {
    const names = [...new Set(throwers)];
    if (names.length !== throwers.length) throw new Failure('INVALID_INPUT', 'a thrower is listed twice');
    // Sorted first, so that the order of the entries gives no advantage.
    names.sort(byCodeUnits);
    const drawn = [];
    for (let round = 1; round <= rounds; round++) {
      const random = seeded(hashed(`${games}\n${round}`));
      const order = [...names];
      for (let i = order.length - 1; i > 0; i--) {
        const j = random(i + 1);
        [order[i], order[j]] = [order[j], order[i]];
      }
      drawn.push(order);
    }
    return { rounds: drawn };
  },
);
