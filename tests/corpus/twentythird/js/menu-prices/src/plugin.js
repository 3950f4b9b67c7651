import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, optional, string } = schema;

const dishName = string({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', maxLength: 60 });
const entryOf = (dish) => `price:${dish}`;

/** Allergens in the order of the printed menu, each once. */
const ALLERGENS = ['gluten', 'milk', 'eggs', 'nuts', 'celery', 'mustard', 'fish'];
const inMenuOrder = (named = []) => ALLERGENS.filter((allergen) => named.includes(allergen));

function change(dish, operation, version) {
  return { resourceType: 'menu-price', resourceId: entryOf(dish), operation, version };
}

/** The entry of a dish as an object, or undefined if the menu does not have the dish. */
function read(dish) {
  const text = kv.text(entryOf(dish));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Menu.Price',
  {
    description: 'Puts the price of a dish on the menu of the canteen.',
    input: object({
      dish: dishName,
      cents: integer({ minimum: 1, maximum: 10000 }),
      guests_cents: optional(integer({ minimum: 1, maximum: 20000 })),
      allergens: optional(array(oneOf(...ALLERGENS), { maxItems: 20 })),
    }),
    output: object({ dish: string(), cents: integer(), guests_cents: integer() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the dish is not on the menu';
      const { set_by } = JSON.parse(text);
      return set_by === version || `the price was set by ${set_by}`;
    },
    // Takes the price off the menu. A price that another call has set since is kept.
    compensate: ({ dish }, result, key) => {
      const entry = read(dish);
      if (entry === undefined) throw new Failure('POLICY_DENIED', `${dish} is not on the menu any more`);
      if (entry.set_by !== key) throw new Failure('POLICY_DENIED', `the price of ${dish} was set again by ${entry.set_by}`);
      if (!kv.delete(entryOf(dish))) throw new Failure('POLICY_DENIED', `${dish} was taken off the menu just now`);
      return new Output(null, { changes: [change(dish, 'delete')] });
    },
  },
  ({ dish, cents, guests_cents, allergens }, context) => {
    const forGuests = guests_cents ?? Math.ceil(cents * 1.5);
    if (forGuests < cents) throw new Failure('INVALID_INPUT', `guests would pay less than staff for ${dish}`);
    const set_by = context.externalKey;
    const entry = { cents, guests_cents: forGuests, allergens: inMenuOrder(allergens), set_by };
    kv.set(entryOf(dish), JSON.stringify(entry));
    return new Output(
      { dish, cents, guests_cents: forGuests },
      { receipt: { set_by }, changes: [change(dish, 'set', set_by)] },
    );
  },
);

tool(
  'Menu.Look',
  {
    description: 'Looks up the price of a dish.',
    input: object({ dish: dishName }),
    output: object({ cents: integer(), guests_cents: integer(), allergens: array(string()) }),
    effects: ['read_only'],
  },
  ({ dish }) => {
    const entry = read(dish);
    if (entry === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `${dish} is not on the menu`);
    return { cents: entry.cents, guests_cents: entry.guests_cents, allergens: entry.allergens };
  },
);
