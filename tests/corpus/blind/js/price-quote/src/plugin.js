import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

// FNV-1a, enough for a check code on paper.
function code(text) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, '0');
}

// Percent off for large orders, as the sales team has set it for the item.
function discount(item, pieces) {
  if (pieces < 100) return 0;
  const percent = Number(kv.text(`discount/${item}`) ?? 5);
  return Number.isInteger(percent) && percent >= 0 && percent <= 50 ? percent : 5;
}

tool(
  'PriceQuote.Make',
  {
    description: 'Makes a quote with a number that the cashier can check.',
    input: object({ item: string({ maxLength: 50 }), pieces: integer({ minimum: 1, maximum: 10000 }), cents: integer({ minimum: 0, maximum: 10000000 }) }),
    output: object({ number: string(), total: integer() }),
    effects: ['produce_outcome'],
    outcome: { type: 'Quote.Price', status: 'draft' },
    determinism: 'pure',
  },
  ({ item, pieces, cents }) => {
    if (item === '') throw new Failure('INVALID_INPUT', 'the item has no name');
    const full = pieces * cents;
    const total = full - Math.floor((full * discount(item, pieces)) / 100);
    return { number: `Q-${code(`${item}|${total}`)}`, total };
  },
);
