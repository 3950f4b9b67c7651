import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, nullable, object, oneOf, optional, string } = schema;

const article = () => string({ pattern: '^[A-Z0-9-]{1,20}$' });
const nameOf = (code) => `price/${code}`;

function read(code) {
  const text = kv.text(nameOf(code));
  return text === undefined ? undefined : JSON.parse(text);
}

const changed = (code, operation, by) => ({ resourceType: 'shelf-price', resourceId: code, operation, version: by });

tool(
  'Shelf.Price',
  {
    description: 'Sets the price that the label on the shelf shows for an article.',
    input: object({
      article: article(),
      cents: integer({ minimum: 1, maximum: 1000000 }),
      unit: oneOf('piece', 'kg', 'l'),
      // A line under the price, such as "2 for 1".
      offer: optional(string({ minLength: 1, maxLength: 60 })),
    }),
    output: object({ article: string(), cents: integer(), earlier_cents: nullable(integer()) }),
    effects: ['internal_write'],
    compensate: (args, result, key) => {
      const now = read(args.article);
      if (now === undefined) throw new Failure('POLICY_DENIED', `article ${args.article} has no price any more`);
      if (now.by !== key) throw new Failure('POLICY_DENIED', `the price of ${args.article} was set again since`);
      if (now.earlier === null) {
        if (!kv.delete(nameOf(args.article))) throw new Failure('POLICY_DENIED', `article ${args.article} has no price any more`);
        return new Output(null, { changes: [changed(args.article, 'delete', key)] });
      }
      // Back to the label that was on the shelf before.
      kv.set(nameOf(args.article), JSON.stringify({ ...now.earlier, earlier: null }));
      return new Output(null, { changes: [changed(args.article, 'restore', now.earlier.by)] });
    },
  },
  (args, context) => {
    const before = read(args.article);
    const entry = {
      cents: args.cents,
      unit: args.unit,
      offer: args.offer ?? null,
      by: context.externalKey,
      // The values that an undo needs. Only one step back is kept, so the entry stays small.
      earlier: before === undefined ? null : { cents: before.cents, unit: before.unit, by: before.by },
    };
    kv.set(nameOf(args.article), JSON.stringify(entry));
    const result = { article: args.article, cents: args.cents, earlier_cents: before?.cents ?? null };
    return new Output(result, { receipt: { by: context.externalKey }, changes: [changed(args.article, 'set', context.externalKey)] });
  },
);

tool(
  'Shelf.Label',
  {
    description: 'Returns the lines that the label on the shelf shows for an article.',
    input: object({ article: article() }),
    output: object({ price: nullable(string()), offer: nullable(string()) }),
    effects: ['read_only'],
  },
  (args) => {
    const now = read(args.article);
    if (now === undefined) return { price: null, offer: null };
    return { price: `${(now.cents / 100).toFixed(2)} / ${now.unit}`, offer: now.offer ?? null };
  },
);
