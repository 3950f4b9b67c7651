// Takes instruments in for repair: the fault and the ticket are two entries, the ticket is written last.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const faultName = (key) => `fault/${key}`;
const ticketName = (key) => `ticket/${key}`;

const change = (type, name, operation, version) => ({ resourceType: type, resourceId: name, operation, version });

/** The answer of a call, from its entries. */
function taken(key, fault, text) {
  const { ticket, since } = JSON.parse(text);
  return new Output(
    { ticket, since },
    {
      receipt: { ticket },
      changes: [change('fault', faultName(key), 'create', fault), change('ticket', ticketName(key), 'create', text)],
    },
  );
}

function ticketOf(text) {
  try {
    return JSON.parse(text).ticket;
  } catch {
    return undefined;
  }
}

/** Runs what follows the first change of a call. A failure leaves the call in doubt. */
function afterFirst(f) {
  try {
    return f();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    throw new Failure(error.code, error.message, { detail: error.detail, applied: 'unknown', cause: error });
  }
}

tool(
  'Luthier.TakeIn',
  {
    description: 'Takes an instrument in for repair and draws a ticket.',
    input: object({
      instrument: oneOf('violin', 'viola', 'cello', 'bass', 'guitar', 'lute'),
      owner: string({ minLength: 1, maxLength: 80 }),
      fault: string({ minLength: 1, maxLength: 1000 }),
    }),
    output: object({ ticket: string(), since: string() }),
    effects: ['internal_write'],
    // No operator reads a fault without its ticket, so a fault alone is no effect.
    reconcile: (args, key) => {
      const text = kv.text(ticketName(key));
      return text === undefined ? 'did-not-happen' : happened(taken(key, args.fault, text));
    },
    verify: ({ resourceId, version }) => {
      const now = kv.text(resourceId);
      if (now === undefined) return 'the entry is missing';
      return now === version || 'the entry was changed';
    },
    compensate: (args, result, key) => {
      const text = kv.text(ticketName(key));
      const fault = kv.text(faultName(key));
      if (text === undefined || fault !== args.fault || ticketOf(text) !== result.ticket) {
        throw new Failure('POLICY_DENIED', `ticket ${result.ticket} was changed or is gone: the repair has begun`);
      }
      if (!kv.delete(ticketName(key))) throw new Failure('POLICY_DENIED', `ticket ${result.ticket} is gone`);
      afterFirst(() => {
        if (!kv.delete(faultName(key))) throw new Failure('POLICY_DENIED', 'the ticket was removed, but its fault is gone');
      });
      return new Output(null, { changes: [change('ticket', ticketName(key), 'delete'), change('fault', faultName(key), 'delete')] });
    },
  },
  ({ instrument, owner, fault }, context) => {
    const key = context.externalKey;
    const ticket = `${instrument}-${crypto.randomUUID().slice(0, 8)}`;
    const text = JSON.stringify({ ticket, instrument, owner, since: new Date().toISOString() });
    kv.set(faultName(key), fault);
    afterFirst(() => kv.set(ticketName(key), text));
    return taken(key, fault, text);
  },
);
