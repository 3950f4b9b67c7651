// Prices of the dishes of a restaurant, with the card on which each price is printed.
import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const dishName = string({ pattern: '^[a-z][a-z0-9-]{0,60}$' });
const entryOf = (dish) => `dish/${dish}`;

function read(dish) {
  const text = kv.text(entryOf(dish));
  return text === undefined ? undefined : JSON.parse(text);
}

const change = (dish, operation) => ({ resourceType: 'dish', resourceId: dish, operation });

tool(
  'Dish.Reprice',
  {
    description: 'Prints a dish on a card with another price.',
    input: object({ dish: dishName, cents: integer({ minimum: 50, maximum: 100000 }), card: string({ minLength: 1, maxLength: 40 }) }),
    output: object({ dish: string(), cents: integer(), before: integer() }),
    effects: ['internal_write'],
    compensate: ({ dish, cents, card }, { before }) => {
      const entry = read(dish);
      if (entry === undefined || entry.cents !== cents || entry.card !== card) {
        throw new Failure('POLICY_DENIED', `the price of ${dish} was changed since`);
      }
      kv.set(entryOf(dish), JSON.stringify({ ...entry, cents: before }));
      return new Output(null, { changes: [change(dish, 'restore')] });
    },
  },
  ({ dish, cents, card }) => {
    const entry = read(dish);
    if (entry === undefined) throw new Failure('INVALID_INPUT', `${dish} is not on the menu`);
    if (entry.cents === cents) throw new Failure('INVALID_INPUT', `${dish} costs ${cents} already`);
    kv.set(entryOf(dish), JSON.stringify({ ...entry, cents, card }));
    return new Output({ dish, cents, before: entry.cents }, { changes: [change(dish, 'reprice')] });
  },
);

tool(
  'Dish.Read',
  {
    description: 'Reads the price of a dish.',
    input: object({ dish: dishName }),
    output: object({ cents: integer(), card: string() }),
  },
  ({ dish }) => {
    const entry = read(dish);
    if (entry === undefined) throw new Failure('INVALID_INPUT', `${dish} is not on the menu`);
    return { cents: entry.cents, card: entry.card };
  },
);
