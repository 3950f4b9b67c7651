import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

const place = (key) => `bid/${key}`;

function find(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function submitted(key, bid) {
  return new Output(
    { bid: key, received: bid.received },
    {
      receipt: { tender: bid.tender, bid: key },
      changes: [{ resourceType: 'bid', resourceId: key, operation: 'create', version: String(bid.received) }],
    },
  );
}

tool(
  'Bid.Submit',
  {
    description: 'Hands in a bid for a tender before the tender closes.',
    input: object({
      tender: string({ pattern: '^T[0-9]{4}$' }),
      bidder: string({ minLength: 1, maxLength: 100 }),
      cents: integer({ minimum: 1, maximum: 1000000000000 }),
      // Seconds since 1970.
      closes: integer({ minimum: 0, maximum: 10000000000 }),
    }),
    output: object({ bid: string(), received: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * 86400,
    reconcile: (args, key) => {
      const bid = find(key);
      return bid === undefined ? 'did-not-happen' : happened(submitted(key, bid));
    },
    verify: ({ resourceId, version }) => {
      const bid = find(resourceId);
      if (bid === undefined) return 'the bid is missing';
      return String(bid.received) === version || `the bid was received at ${bid.received}`;
    },
  },
  (args, context) => {
    const now = Math.floor(Date.now() / 1000);
    if (now >= args.closes) throw new Failure('POLICY_DENIED', `tender ${args.tender} is closed`);
    const key = context.externalKey;
    const earlier = find(key);
    if (earlier !== undefined) return submitted(key, earlier);
    const bid = { tender: args.tender, bidder: args.bidder, cents: args.cents, received: now };
    kv.set(place(key), JSON.stringify(bid));
    return submitted(key, bid);
  },
);

tool(
  'Bid.Show',
  {
    description: 'Shows a bid that was handed in.',
    input: object({ bid: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ found: boolean(), tender: string(), bidder: string(), cents: integer() }),
  },
  (args) => {
    const bid = find(args.bid);
    if (bid === undefined) return { found: false, tender: '', bidder: '', cents: 0 };
    return { found: true, tender: bid.tender, bidder: bid.bidder, cents: bid.cents };
  },
);
