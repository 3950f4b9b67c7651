import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

step(
  'Parts.Prices',
  {
    description: 'Asks for the prices of parts, all at the same time.',
    input: object({ parts: array(string(), { maxItems: 50 }) }),
    output: object({ prices: array(object({ part: string(), price: number() })), missing: array(string()), cheapest: string(), asked: integer() }),
    determinism: 'external',
  },
  ({ parts }) => {
    const wanted = [...new Set(parts)].sort();
    if (wanted.length === 0) throw new Failure('INVALID_INPUT', 'there are no parts');
    const answers = tools.callAll(wanted.map((part) => ({ operator: 'Part.Price', args: { part } })));
    const prices = [];
    const missing = [];
    answers.forEach(({ ok, failure }, index) => {
      if (failure === undefined && Number.isFinite(ok?.price)) prices.push({ part: wanted[index], price: ok.price });
      else missing.push(wanted[index]);
    });
    if (prices.length === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', 'no part has a price');
    // Of two equal prices, the first part in the order of the alphabet.
    const cheapest = prices.reduce((best, one) => (one.price < best.price ? one : best)).part;
    return { prices, missing, cheapest, asked: wanted.length };
  },
);
