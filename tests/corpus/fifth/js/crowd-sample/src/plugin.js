// Draws a sample of the visitors of a fair for an interview. Each job draws another sample, with an id and the time
// of the draw, so that the operator is stable and not pure.
import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Crowd.Sample',
  {
    description: 'Draws a sample of the visitors of a fair.',
    input: object({ visitors: array(string(), { maxItems: 1000 }), size: integer({ minimum: 0 }) }),
    output: object({ id: string(), drawn_at: string(), sample: array(string()) }),
    determinism: 'stable',
  },
  ({ visitors, size }, { jobId }) => {
    if (size > visitors.length) throw new Failure('INVALID_INPUT', 'the sample is larger than the crowd');
    const order = visitors.map((visitor) => ({ visitor, rank: Math.random() }));
    order.sort((a, b) => a.rank - b.rank);
    const sample = order.slice(0, size).map(({ visitor }) => visitor);
    const id = crypto.randomUUID();
    events.emit('sample-drawn', { id, size, job: jobId });
    return { id, drawn_at: new Date().toISOString(), sample };
  },
);
