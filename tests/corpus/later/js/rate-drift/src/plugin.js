import { config, Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, nullable, number, object, string } = schema;

tool(
  'Rate.Drift',
  {
    description: 'Reads an exchange rate of the configuration and compares it with the rate that was read last.',
    input: object({ currency: string({ pattern: '^[A-Z]{3}$' }) }),
    output: object({ rate: number(), before: nullable(number()), drifted: boolean() }),
  },
  ({ currency }) => {
    const rates = config.get('rates') ?? {};
    const rate = rates[currency];
    if (typeof rate !== 'number') throw new Failure('INVALID_INPUT', `there is no rate of ${currency}`);
    const known = kv.text(`rate/${currency}`);
    const before = known === undefined ? null : Number(known);
    // The rate is kept for the next comparison.
    if (before !== rate) kv.set(`rate/${currency}`, String(rate));
    return { rate, before, drifted: before !== null && Math.abs(rate - before) / before > 0.01 };
  },
);
