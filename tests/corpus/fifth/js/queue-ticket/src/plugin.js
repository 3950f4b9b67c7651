// Issues a ticket for a waiting room. A ticket is an entry of the map under the key of the call, so that one call has
// one ticket.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entry = (key) => `ticket/${key}`;
const issued = (key, room) =>
  new Output(
    { ticket: key, room },
    { changes: [{ resourceType: 'ticket', resourceId: entry(key), operation: 'create', version: room }] },
  );

tool(
  'Queue.Ticket',
  {
    description: 'Issues a ticket for a waiting room.',
    input: object({ room: string({ minLength: 1, maxLength: 40 }) }),
    output: object({ ticket: string(), room: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86400,
    // Called after a crash: finds out whether the call happened.
    reconcile: (args, key) => {
      const room = kv.text(entry(key));
      return room === undefined ? 'did-not-happen' : happened(issued(key, room));
    },
  },
  ({ room }, { externalKey }) => {
    if (kv.get(entry(externalKey)) !== undefined) {
      throw new Failure('INVALID_INPUT', 'this call has a ticket already', { applied: 'no' });
    }
    kv.set(entry(externalKey), room);
    return issued(externalKey, room);
  },
);
