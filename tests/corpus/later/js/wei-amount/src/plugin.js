import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

// Smallest units in one coin.
const UNITS = { cent: 1e2, satoshi: 1e8, gwei: 1e9, wei: 1e18 };

step(
  'Coin.Units',
  {
    description: 'Converts amounts of coins to their smallest units.',
    input: object({ payments: array(object({ to: string(), amount: string(), unit: oneOf(...Object.keys(UNITS)) })) }),
    output: object({ payments: array(object({ to: string(), units: integer() })) }),
    determinism: 'pure',
  },
  ({ payments }) => ({
    payments: payments.map(({ to, amount, unit }) => {
      if (!/^\d+(\.\d+)?$/.test(amount)) throw new Failure('INVALID_INPUT', `${amount} is not an amount`);
      return { to, units: Math.round(Number(amount) * UNITS[unit]) };
    }),
  }),
);
