import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

tool(
  'Lodge.Ticket',
  {
    description: 'Issues a ticket for a bed in a mountain lodge.',
    input: object({ lodge: string({ minLength: 1 }), guest: string({ minLength: 1 }), night: string(), beds: integer() }),
    output: object({ ticket: string(), beds: integer() }),
    effects: ['internal_write'],
    // The ticket is stored under the key of the call, so a repetition issues no second one.
    idempotentByKeySeconds: 24 * 60 * 60,
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the ticket is missing';
      return text === version || 'the ticket was changed';
    },
  },
  ({ lodge, guest, night, beds }, { externalKey }) => {
    if (!/^\d{4}-\d{2}-\d{2}$/.test(night)) throw new Failure('INVALID_INPUT', `night: ${night} is no date`);
    if (beds < 1 || beds > 12) throw new Failure('INVALID_INPUT', `${beds} beds`);
    const ticket = `ticket/${externalKey}`;
    const text = JSON.stringify({ lodge, guest, night, beds, issued: new Date().toISOString() });
    kv.set(ticket, text);
    return new Output(
      { ticket, beds },
      { receipt: { ticket }, changes: [{ resourceType: 'ticket', resourceId: ticket, operation: 'create', version: text }] },
    );
  },
);
