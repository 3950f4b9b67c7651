import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, integer, string } = schema;

const entryOf = (key) => `light-order/${key}`;
const orderOf = ({ buoy, colour, flashes, period_s }) => `${buoy} ${colour} ${flashes}/${period_s}s`;

const ordered = (args, key) =>
  new Output(
    { order: entryOf(key), character: `Fl(${args.flashes}) ${args.colour} ${args.period_s}s` },
    { changes: [{ resourceType: 'light-order', resourceId: entryOf(key), operation: 'create', version: orderOf(args) }] },
  );

tool(
  'Buoy.Light',
  {
    description: 'Orders a new light character for a buoy.',
    input: object({
      buoy: string({ minLength: 1 }),
      colour: oneOf('red', 'green', 'white', 'yellow'),
      flashes: integer({ minimum: 1, maximum: 9 }),
      period_s: integer({ minimum: 2, maximum: 30 }),
    }),
    output: object({ order: string(), character: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => (kv.get(entryOf(key)) === undefined ? 'did-not-happen' : happened(ordered(args, key))),
    verify: ({ resourceId, version }) => {
      let order;
      try {
        order = kv.text(resourceId);
      } catch (error) {
        return `the order cannot be read: ${error.message}`;
      }
      if (order === undefined) return 'the order is missing';
      return order === version || `the order is now ${order}`;
    },
  },
  (args, { externalKey }) => {
    if (args.flashes > args.period_s) throw new Failure('INVALID_INPUT', 'more than one flash a second cannot be seen');
    kv.set(entryOf(externalKey), orderOf(args));
    return ordered(args, externalKey);
  },
);
