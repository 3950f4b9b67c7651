// Orders of seed packets. The packing room reads an order, and fills envelopes of twelve packets.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

/** Packets in one envelope. */
const ENVELOPE = 12;

const order = object({ order: string(), variety: string(), packets: integer(), envelopes: integer() });

const place = (id) => `order/${id}`;

/** The output of an order: its number, its content, and the envelopes that it fills. */
function placed(id, variety, packets) {
  const result = { order: id, variety, packets, envelopes: Math.ceil(packets / ENVELOPE) };
  return new Output(result, {
    receipt: { order: id },
    changes: [{ resourceType: 'seed-order', resourceId: id, operation: 'create' }],
  });
}

/** Looks for the order of a call that was cut off. */
function reconcile(args, key) {
  const line = kv.text(place(key));
  if (line === undefined) return 'did-not-happen';
  const [variety, packets] = line.split('\t');
  return happened(placed(key, variety, packets));
}

tool(
  'Seeds.Order',
  {
    description: 'Orders packets of a variety for the packing room.',
    input: object({
      variety: string({ pattern: '^[^\\t\\n]{1,80}$' }),
      packets: integer({ minimum: 1, maximum: 5000 }),
    }),
    output: order,
    effects: ['internal_write'],
    reconcile,
  },
  ({ variety, packets }, context) => {
    const name = variety.trim();
    if (name === '') throw new Failure('INVALID_INPUT', 'the order names no variety');
    kv.set(place(context.externalKey), `${name}\t${packets}`);
    return placed(context.externalKey, name, packets);
  },
);

tool(
  'Seeds.Show',
  {
    description: 'Shows an order to the packing room.',
    input: object({ order: string({ minLength: 1, maxLength: 128 }) }),
    output: order,
    effects: ['read_only'],
  },
  ({ order: id }) => {
    const line = kv.text(place(id));
    if (line === undefined) throw new Failure('INVALID_INPUT', `there is no order ${id}`);
    const [variety, packets] = line.split('\t');
    return { order: id, variety, packets: Number(packets), envelopes: Math.ceil(Number(packets) / ENVELOPE) };
  },
);
