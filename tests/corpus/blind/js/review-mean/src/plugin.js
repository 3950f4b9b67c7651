import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, number, array, boolean } = schema;

const review = object({ stars: integer({ minimum: 1, maximum: 5 }), helpful: integer({ minimum: 0 }), withdrawn: boolean() });

step(
  'ReviewMean.Rate',
  {
    description: 'Rates a product by its reviews, weighted by the votes for them.',
    input: object({ product: string(), reviews: array(review) }),
    output: object({ product: string(), mean: number(), count: integer() }),
  },
  ({ product, reviews }) => {
    if (product === '') throw new Failure('INVALID_INPUT', 'product is empty');
    const valid = reviews.filter((one) => !one.withdrawn);
    const weight = (one) => 1 + Math.min(one.helpful, 99);
    const sum = valid.reduce((total, one) => total + one.stars * weight(one), 0);
    const votes = valid.reduce((total, one) => total + weight(one), 0);
    return { product, mean: Math.round((sum / votes) * 10) / 10, count: valid.length };
  },
);
