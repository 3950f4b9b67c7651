import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object, oneOf, string } = schema;

step(
  'Sla.Check',
  {
    description: 'Tells how much of the agreed time is left for a request.',
    input: object({ request: string(), hours: integer({ minimum: 1, maximum: 720 }) }),
    output: object({ state: oneOf('open', 'late', 'closed'), minutes_left: integer(), asked_at: string(), sample: number() }),
    // Uses the time of the job and asks a tool.
    determinism: 'external',
  },
  ({ request, hours }) => {
    const begun = performance.now();
    const { opened, closed } = tools.call('Request.Read', { request });
    const opens = Date.parse(opened);
    if (Number.isNaN(opens)) throw new Failure('SCHEMA_VALIDATION_FAILED', `request ${request} has no time`);
    const now = new Date();
    const left = Math.floor((opens + hours * 3_600_000 - now.getTime()) / 60_000);
    console.log(`${request}: ${performance.now() - begun} ms`);
    const state = closed ? 'closed' : left < 0 ? 'late' : 'open';
    // One request of a hundred is looked at by a person.
    return { state, minutes_left: Math.max(left, 0), asked_at: now.toISOString(), sample: Math.random() };
  },
);
