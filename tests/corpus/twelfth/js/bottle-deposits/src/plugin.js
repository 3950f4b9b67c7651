// Deposits on bottles and crates. The usual amounts are in the config, special ones in the map.

import { config, Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const USUAL = { beer: 8, water: 15, can: 25, crate: 150 };

const kind = string({ pattern: '^[a-z]{1,20}$' });
const cents = integer({ minimum: 0, maximum: 10000 });

tool(
  'Deposit.Compute',
  {
    description: 'Computes the deposit on a delivery of bottles and crates.',
    input: object({ items: array(object({ kind, count: integer({ minimum: 0, maximum: 100000 }) }), { maxItems: 200 }) }),
    output: object({ cents: integer(), unknown: array(string()) }),
    // Nothing is written, and no clock or random number is read.
    determinism: 'pure',
  },
  ({ items }) => {
    const usual = { ...USUAL, ...config.get('deposits') };
    const unknown = new Set();
    let total = 0;
    for (const { kind: name, count } of items) {
      const special = kv.text(`special/${name}`);
      const each = special === undefined ? usual[name] : Number(special);
      if (Number.isSafeInteger(each) && each >= 0 && each <= 10000) total += each * count;
      else unknown.add(name);
    }
    return { cents: total, unknown: [...unknown].sort() };
  },
);

tool(
  'Deposit.Agree',
  {
    description: 'Sets the deposit that was agreed for a kind of bottle.',
    input: object({ kind, cents }),
    output: object({ kind: string(), cents: integer() }),
    effects: ['internal_write'],
  },
  (args) => {
    if (args.cents % 1 !== 0) throw new Failure('INVALID_INPUT', 'a deposit is a whole number of cents');
    kv.set(`special/${args.kind}`, String(args.cents));
    return { kind: args.kind, cents: args.cents };
  },
);
