import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

step(
  'Receipt.Stamp',
  {
    description: 'Stamps a receipt with an id, the time and a lucky number.',
    input: object({ customer: string(), cents: integer({ minimum: 0 }) }),
    output: object({ id: string(), at: string(), valid_until: string(), lucky: integer(), text: string() }),
    // Id, time and number differ from job to job.
    determinism: 'stable',
  },
  ({ customer, cents }, context) => {
    const now = Date.now();
    return {
      id: crypto.randomUUID(),
      at: new Date(now).toISOString(),
      valid_until: new Date(now + 30 * 24 * 60 * 60 * 1000).toISOString(),
      lucky: 1 + Math.floor(Math.random() * 49),
      text: `${customer} paid ${(cents / 100).toFixed(2)} in ${context.jobId}`,
    };
  },
);
