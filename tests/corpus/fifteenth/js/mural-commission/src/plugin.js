import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** The largest panel that the scaffold reaches, in square centimeters. */
const LARGEST = 240000;

/** Price of a square meter in cents, by the kind of paint. */
const PRICE = { lime: 42000, silicate: 51000, acrylic: 36000 };

const panel = object({
  title: string({ minLength: 1, maxLength: 200 }),
  width: integer({ minimum: 1, maximum: 10000 }),
  height: integer({ minimum: 1, maximum: 10000 }),
  paint: schema.oneOf('lime', 'silicate', 'acrylic'),
});

tool(
  'Mural.Commission',
  {
    description: 'Files the panels of a commissioned mural in the book of the workshop.',
    input: object({
      wall: string({ minLength: 1, maxLength: 200 }),
      panels: array(panel, { minItems: 1, maxItems: 40 }),
    }),
    output: object({ commission: string(), panels: integer(), price_cents: integer() }),
    effects: ['internal_write'],
  },
  (args, context) => {
    const commission = context.externalKey;
    const changes = [];
    let price = 0;
    for (const [at, { title, width, height, paint }] of args.panels.entries()) {
      const area = width * height;
      if (area > LARGEST) {
        throw new Failure('INVALID_INPUT', `panel ${at + 1} has ${area} square centimeters, and the scaffold reaches ${LARGEST}`);
      }
      const cents = Math.round((area / 10000) * PRICE[paint]);
      const id = `${commission}/${at + 1}`;
      kv.set(`panel/${id}`, JSON.stringify({ wall: args.wall, title, width, height, paint, cents }));
      changes.push({ resourceType: 'mural-panel', resourceId: id, operation: 'create', version: String(cents) });
      price += cents;
    }
    return new Output(
      { commission, panels: args.panels.length, price_cents: price },
      { receipt: { commission, price_cents: price }, changes },
    );
  },
);
