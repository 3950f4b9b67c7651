// Distributes the goods of a delicatessen over as few gift hampers as possible.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Milliseconds for the search. The shop waits for the answer. */
const SEARCH_MS = 40;

const good = object({ name: string({ minLength: 1, maxLength: 60 }), grams: integer({ minimum: 1, maximum: 20000 }) });

step(
  'Hamper.Pack',
  {
    description: 'Packs goods into hampers of equal capacity.',
    input: object({ goods: array(good, { minItems: 1, maxItems: 60 }), capacity_grams: integer({ minimum: 100, maximum: 20000 }) }),
    output: object({ hampers: array(object({ goods: array(string()), grams: integer() })), count: integer(), best_possible: integer() }),
    // Stable and not pure: the search draws random orders.
    determinism: 'stable',
  },
  ({ goods, capacity_grams: capacity }) => {
    const heavy = goods.find(({ grams }) => grams > capacity);
    if (heavy) throw new Failure('INVALID_INPUT', `${heavy.name} is too heavy for a hamper`);
    const total = goods.reduce((sum, { grams }) => sum + grams, 0);
    const least = Math.ceil(total / capacity);
    let best = firstFit([...goods].sort((a, b) => b.grams - a.grams), capacity);
    if (best.length > least) best = search(goods, capacity, least, best);
    return {
      hampers: best.map(({ goods, grams }) => ({ goods: goods.map(({ name }) => name), grams })),
      count: best.length,
      best_possible: least,
    };
  },
);

/** Tries random orders until the time is over or nothing better is possible. */
function search(goods, capacity, least, best) {
  const until = Date.now() + SEARCH_MS;
  while (Date.now() < until && best.length > least) {
    const tried = firstFit(shuffled(goods), capacity);
    if (tried.length < best.length) best = tried;
  }
  return best;
}

function shuffled(goods) {
  const made = [...goods];
  for (let i = made.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [made[i], made[j]] = [made[j], made[i]];
  }
  return made;
}

function firstFit(goods, capacity) {
  const hampers = [];
  for (const good of goods) {
    let hamper = hampers.find(({ grams }) => grams + good.grams <= capacity);
    if (hamper === undefined) {
      hamper = { goods: [], grams: 0 };
      hampers.push(hamper);
    }
    hamper.goods.push(good);
    hamper.grams += good.grams;
  }
  return hampers;
}
