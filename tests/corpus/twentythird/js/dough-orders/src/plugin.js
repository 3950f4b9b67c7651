import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const headOf = (key) => `order:${key}`;
const sheetOf = (key) => `sheet:${key}`;

/** Grams of dough in one piece, by product. */
const GRAMS = { roll: 65, baguette: 320, loaf: 820, pretzel: 110 };

/** Sum of the dough that the night shift has to prepare. */
const dough = (lines) => lines.reduce((sum, { product, pieces }) => sum + GRAMS[product] * pieces, 0);

/** The sheet that hangs at the oven: one line for each batch. */
function sheet(lines) {
  return lines
    .map(({ product, pieces, shop, remark }, row) => `${row + 1}\t${product}\t${pieces}\t${shop}\t${remark ?? ''}`)
    .join('\n');
}

/** Answer of the call, from the head of the order. */
function placed(key, head) {
  const { grams, batches } = JSON.parse(head);
  return new Output(
    { order: key, grams, batches },
    { changes: [{ resourceType: 'dough-order', resourceId: headOf(key), operation: 'create', version: head }] },
  );
}

tool(
  'Dough.Order',
  {
    description: 'Places the order of a night shift: a head with the sum of the dough, and the sheet for the oven.',
    input: object({
      night: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])$' }),
      lines: array(
        object({
          product: schema.oneOf('roll', 'baguette', 'loaf', 'pretzel'),
          pieces: integer({ minimum: 1, maximum: 5000 }),
          shop: string({ minLength: 1, maxLength: 60 }),
          remark: optional(string({ maxLength: 200 })),
        }),
        { minItems: 1, maxItems: 600 },
      ),
    }),
    output: object({ order: string(), grams: integer(), batches: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const head = kv.text(headOf(key));
      if (head === undefined) return 'did-not-happen';
      // The sheet is written after the head. Without it the order is not complete.
      return kv.get(sheetOf(key)) === undefined ? 'unknown' : happened(placed(key, head));
    },
  },
  ({ night, lines }, context) => {
    const key = context.externalKey;
    const day = new Date(`${night}T00:00:00Z`);
    if (Number.isNaN(day.getTime()) || day.toISOString().slice(0, 10) !== night) {
      throw new Failure('INVALID_INPUT', `there is no day ${night}`);
    }
    if (day.getUTCDay() === 0) throw new Failure('INVALID_INPUT', `${night} is a Sunday: the bakery is closed`);

    const head = JSON.stringify({ night, grams: dough(lines), batches: lines.length });
    kv.set(headOf(key), head);
    kv.set(sheetOf(key), sheet(lines));
    return placed(key, head);
  },
);

tool(
  'Dough.Sum',
  {
    description: 'Tells how much dough an order needs, from the head of the order.',
    input: object({ order: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ night: string(), grams: integer(), batches: integer() }),
    effects: ['read_only'],
  },
  ({ order }) => {
    const head = kv.text(headOf(order));
    if (head === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no order ${order}`);
    return JSON.parse(head);
  },
);
