// Adds up the boxes of a removal, which contain things and further boxes.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Heaviest box that two people carry, in grams. */
const CARRIED = 60000;

const thing = object({
  name: string({ minLength: 1, maxLength: 80 }),
  grams: integer({ minimum: 0, maximum: 1000000 }),
});

const box = object({
  label: string({ minLength: 1, maxLength: 40 }),
  things: array(thing, { maxItems: 1000 }),
  boxes: array({ $ref: '#/$defs/box' }, { maxItems: 200 }),
});

step(
  'Inventory.Weigh',
  {
    description: 'Counts and weighs all things of a removal, box by box.',
    input: object({ household: string({ minLength: 1, maxLength: 80 }), load: box }, { $defs: { box } }),
    output: object({
      household: string(),
      things: integer(),
      grams: integer(),
      depth: integer(),
      heavy: array(string()),
    }),
  },
  ({ household, load }) => {
    const heavy = [];
    const { things, grams, depth } = weighed(load, heavy);
    if (things === 0) throw new Failure('INVALID_INPUT', `the load of ${household} has no things`);
    // The list names each heavy box once, also if several boxes have one label.
    return { household, things, grams, depth, heavy: [...new Set(heavy)].slice(0, 100) };
  },
);

/** Weighs a box with everything in it. Adds the labels of heavy boxes to the list, inner boxes first. */
function weighed({ label, things, boxes }, heavy) {
  let count = things.length;
  let grams = 0;
  let depth = 0;
  for (const thing of things) grams += thing.grams;
  for (const inner of boxes) {
    const found = weighed(inner, heavy);
    count += found.things;
    grams += found.grams;
    depth = Math.max(depth, found.depth);
  }
  if (grams > CARRIED) heavy.push(label);
  return { things: count, grams, depth: depth + 1 };
}
