import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

const entryOf = (key) => `order/${key}`;

tool(
  'Seedling.Order',
  {
    description: 'Orders trays of seedlings from the nursery.',
    input: object({ plant: string({ minLength: 1, maxLength: 80 }), trays: integer({ minimum: 1, maximum: 400 }) }),
    output: object({ order: string(), trays: integer() }),
    effects: ['internal_write'],
    // After a crash: looks whether the order is there.
    reconcile: (args, key) => {
      const kept = kv.text(entryOf(key));
      if (kept === undefined) return 'did-not-happen';
      const { trays } = JSON.parse(kept);
      return happened({ order: key, trays });
    },
    verify: ({ resourceId, version }) => {
      const kept = kv.text(resourceId);
      if (kept === undefined) return 'the order is missing';
      return kept === version || `the order is ${kept}`;
    },
  },
  (args, context) => {
    if (args.plant.trim() === '') throw new Failure('INVALID_INPUT', 'the order has no plant');
    const order = context.externalKey;
    const kept = JSON.stringify({ plant: args.plant, trays: args.trays });
    kv.set(entryOf(order), kept);
    return new Output(
      { order, trays: args.trays },
      {
        receipt: { order },
        changes: [{ resourceType: 'order', resourceId: entryOf(order), operation: 'create', version: kept }],
      },
    );
  },
);
