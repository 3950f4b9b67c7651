import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const SYMBOLS = { EUR: '€', USD: '$', GBP: '£', JPY: '¥' };
const DIGITS = { JPY: 0 };

function amount(units, digits) {
  const text = String(units).padStart(digits + 1, '0');
  return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

step(
  'Price.Tag',
  {
    description: 'Writes the tag of a price.',
    input: object({ units: integer({ minimum: 0 }), currency: string({ pattern: '^[A-Z]{3}$' }), per: string() }),
    output: object({ amount: string(), symbol: string(), per: string() }),
    determinism: 'pure',
  },
  ({ units, currency, per }) => {
    if (per.length > 12) throw new Failure('INVALID_INPUT', `per: ${per} is too long for a tag`);
    const digits = DIGITS[currency] ?? 2;
    return { amount: amount(units, digits), symbol: SYMBOLS[currency], per: per || 'piece' };
  },
);
