// Takes the reports of meteors that observers send in, but none in the hours of the nightly reduction.

import { config, Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object, oneOf, string } = schema;

const report = (key) =>
  new Output({ report: key }, { changes: [{ resourceType: 'report', resourceId: `meteor/${key}`, operation: 'create' }] });

tool(
  'Meteor.Report',
  {
    description: 'Takes the report of one meteor.',
    input: object({
      observer: string({ minLength: 1, maxLength: 80 }),
      seen_at: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' }),
      magnitude: number({ minimum: -20, maximum: 8 }),
      duration_ms: integer({ minimum: 50, maximum: 60000 }),
      direction: oneOf('N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'),
    }),
    output: object({ report: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => (kv.get(`meteor/${key}`) === undefined ? 'did-not-happen' : happened(report(key))),
  },
  (args, context) => {
    // A repeated try: the report is already there, and must not get a second time of receipt.
    if (context.triesBefore > 0) return report(context.externalKey);
    if (Number.isNaN(Date.parse(args.seen_at))) throw new Failure('INVALID_INPUT', `${args.seen_at} is no time`);
    const wait = quietFor(new Date());
    if (wait > 0) throw new Failure('RATE_LIMIT', 'the nightly reduction is running', { retryAfterMs: wait });
    const entry = { ...args, fireball: args.magnitude <= -4, received: new Date().toISOString() };
    kv.set(`meteor/${context.externalKey}`, JSON.stringify(entry));
    return report(context.externalKey);
  },
);

/** Milliseconds until the end of the reduction, 0 outside of it. Config: reduction = { from = 11, hours = 2 }, in UTC. */
function quietFor(now) {
  const reduction = config.get('reduction');
  if (reduction === undefined) return 0;
  const { from, hours } = reduction;
  if (!Number.isInteger(from) || from < 0 || from > 23 || !Number.isInteger(hours) || hours < 1 || hours > 12) {
    throw new Failure('MISSING_REQUIRED_CONTEXT', 'config: reduction needs from (0 to 23) and hours (1 to 12)');
  }
  const sinceStart = (now.getUTCHours() - from + 24) % 24;
  if (sinceStart >= hours) return 0;
  return (hours - sinceStart) * 3600000 - now.getUTCMinutes() * 60000;
}
