// Collects quotes for a lot of grain from the trading desks of several buyers.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, oneOf, string } = schema;

const BUSY = ['RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'NETWORK_TIMEOUT'];

step(
  'Grain.Compare',
  {
    description: 'Asks each buyer for a price and names the best offer.',
    input: object({
      crop: oneOf('barley', 'oats', 'rye', 'wheat'),
      tonnes: integer({ minimum: 1, maximum: 100000 }),
      buyers: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 100, uniqueItems: true }),
    }),
    output: object({
      best: object({ buyer: string(), cents: integer() }),
      quotes: array(object({ buyer: string(), cents: integer() })),
      declined: array(string()),
      note: nullable(string()),
    }),
    determinism: 'external',
  },
  ({ crop, tonnes, buyers }) => {
    const waiting = [...buyers];
    const quotes = [];
    const declined = [];
    while (waiting.length > 0) {
      const buyer = waiting.shift();
      try {
        const answer = tools.call('Desk.Quote', { buyer, crop, tonnes });
        if (!Number.isSafeInteger(answer?.cents)) throw new Failure('SCHEMA_VALIDATION_FAILED', `${buyer} sent no price`);
        quotes.push({ buyer, cents: answer.cents });
      } catch (failure) {
        if (!(failure instanceof Failure)) throw failure;
        // A busy desk gets its turn again after the others.
        if (BUSY.includes(failure.code)) waiting.push(buyer);
        else declined.push(buyer);
      }
    }
    if (quotes.length === 0) throw new Failure('POLICY_DENIED', 'every buyer declined');
    const best = quotes.reduce((a, b) => (b.cents > a.cents ? b : a));
    return { best, quotes, declined, note: declined.length > 0 ? `${declined.length} of ${buyers.length} declined` : null };
  },
);
