import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, oneOf } = schema;

tool(
  'BikeRental.Hand',
  {
    description: 'Hands a bike over to a customer.',
    input: object({ bike: integer({ minimum: 1 }), customer: string(), size: oneOf('S', 'M', 'L') }),
    output: object({ rental: string() }),
    effects: ['internal_write'],
    verify: ({ resourceId, version }) => {
      const entry = kv.get(resourceId);
      if (entry === undefined) return 'the rental is missing';
      return entry == version || 'the rental was changed';
    },
  },
  ({ bike, customer, size }, context) => {
    if (customer.trim() === '') throw new Failure('INVALID_INPUT', 'the customer has no name');
    const rental = `rental/${context.externalKey}`;
    const entry = JSON.stringify({ bike, customer, size });
    kv.set(rental, entry);
    return new Output({ rental }, { changes: [{ resourceType: 'rental', resourceId: rental, operation: 'create', version: entry }] });
  },
);
