import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const byCall = (key) => `booking/${key}`;
const byDay = ({ day, desk }, key) => `day/${day}/${desk}/${key}`;

function booked(args, key) {
  const changes = [
    { resourceType: 'booking', resourceId: byCall(key), operation: 'create' },
    { resourceType: 'day', resourceId: byDay(args, key), operation: 'create' },
  ];
  return new Output({ booking: key, desk: args.desk }, { changes });
}

tool(
  'Desk.Book',
  {
    description: 'Books a desk for a day.',
    input: object({ desk: string(), day: string(), person: string() }),
    output: object({ booking: string(), desk: string() }),
    effects: ['internal_write'],
    // Both entries are named by the key of the call, so a repetition writes them again.
    idempotentByKeySeconds: 86400,
    // Called when a job is cancelled: frees the desk.
    compensate: (args, result) => {
      kv.delete(byCall(result.booking));
      return new Output(null, { changes: [{ resourceType: 'booking', resourceId: byCall(result.booking), operation: 'delete' }] });
    },
  },
  (args, context) => {
    if (!/^\d{4}-\d\d-\d\d$/.test(args.day)) throw new Failure('INVALID_INPUT', `${args.day} is not a day`);
    if (args.desk.length > 20) throw new Failure('INVALID_INPUT', 'the name of the desk is too long');
    const key = context.externalKey;
    kv.set(byCall(key), JSON.stringify(args));
    try {
      // The display at the entrance shows the desks of a day.
      kv.set(byDay(args, key), args.person);
    } catch (thrown) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the day was not written: ${thrown.message}`, { applied: 'unknown' });
    }
    return booked(args, key);
  },
);
