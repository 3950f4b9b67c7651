import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, number, object, oneOf, string } = schema;

const day = string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' });
const RESERVE = { calm: 0.5, moderate: 1, rough: 2 };

const refuse = (vessel, reasons) =>
  new Failure('POLICY_DENIED', `${vessel} gets no clearance: ${reasons.join(', ')}`, {
    detail: { vessel, reasons, refused_at: new Date().toISOString() },
  });

step(
  'Anchorage.Clear',
  {
    description: 'Decides whether a vessel may use an anchorage, from the documents of the request.',
    input: object({
      vessel: string({ minLength: 1, maxLength: 100 }),
      draught_m: number({ minimum: 0.1, maximum: 30 }),
      arrival: day,
      departure: day,
      anchorage: object({ name: string({ maxLength: 100 }), depth_m: number({ minimum: 0, maximum: 200 }), closed: array(day, { maxItems: 400 }) }),
      sea: oneOf('calm', 'moderate', 'rough'),
    }),
    output: object({ vessel: string(), anchorage: string(), under_keel_m: number() }),
    determinism: 'pure',
  },
  ({ vessel, draught_m, arrival, departure, anchorage, sea }) => {
    if (departure < arrival) throw new Failure('INVALID_INPUT', `the departure on ${departure} is before the arrival`);
    const underKeel = Math.round((anchorage.depth_m - draught_m) * 100) / 100;
    const reasons = [];
    if (underKeel < RESERVE[sea]) reasons.push(`${underKeel} m under the keel in a ${sea} sea`);
    const closed = anchorage.closed.filter((date) => date >= arrival && date <= departure).sort();
    if (closed.length > 0) reasons.push(`closed on ${closed[0]}`);
    if (reasons.length > 0) throw refuse(vessel, reasons);
    return { vessel, anchorage: anchorage.name, under_keel_m: underKeel };
  },
);
