import { kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

tool(
  'Ticket.Open',
  {
    description: 'Opens a ticket with the next number.',
    input: object({ title: string() }),
    output: object({ number: integer() }),
    effects: ['internal_write'],
    // A call without an answer is made again.
    reconcile: () => 'did-not-happen',
  },
  ({ title }, context) => {
    const number = Number(kv.text('last') ?? 0) + 1;
    kv.set('last', String(number));
    kv.set(`ticket/${number}`, JSON.stringify({ title, by: context.actor }));
    return new Output({ number }, { changes: [{ resourceType: 'ticket', resourceId: String(number), operation: 'create' }] });
  },
);
