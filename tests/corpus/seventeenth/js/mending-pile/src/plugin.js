// The mending pile of a repair café: visitors leave garments, and the volunteers see what has to be sewn.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

/** Pieces that one volunteer mends in an evening. */
const EVENING = 4;

const dropped = object({ ticket: string(), garment: string(), pieces: integer(), evenings: integer(), at: string() });

const place = (ticket) => `pile/${ticket}`;

const change = (ticket, operation) => ({ resourceType: 'mending', resourceId: ticket, operation });

/** Writes an entry as one line: pieces, time, garment. */
const line = (pieces, at, garment) => `${pieces}\t${at}\t${garment}`;

/** Reads the line of an entry. A garment may have tabs in its description. */
function parsed(ticket, text) {
  const [pieces, at, ...garment] = text.split('\t');
  const count = Number(pieces);
  return { ticket, garment: garment.join('\t'), pieces: count, evenings: Math.ceil(count / EVENING), at };
}

function output(ticket, text) {
  return new Output(parsed(ticket, text), { receipt: { ticket }, changes: [change(ticket, 'create')] });
}

/** Looks for the garment of a call that was cut off. */
function reconcile(args, key) {
  const text = kv.text(place(key));
  return text === undefined ? 'did-not-happen' : happened(output(key, text));
}

/** Takes a garment off the pile. */
function compensate(args, { pieces, at, garment }, key) {
  if (kv.text(place(key)) !== line(pieces, at, garment)) {
    throw new Failure('POLICY_DENIED', `${garment} is not on the pile as it was left`);
  }
  if (!kv.delete(place(key))) throw new Failure('POLICY_DENIED', `${garment} is no longer on the pile`);
  return new Output(null, { changes: [change(key, 'delete')] });
}

tool(
  'Mending.Leave',
  {
    description: 'Puts garments on the mending pile, and says how many evenings they take.',
    input: object({
      garment: string({ minLength: 1, maxLength: 200 }),
      pieces: integer({ minimum: 1, maximum: 400 }),
    }),
    output: dropped,
    effects: ['internal_write'],
    reconcile,
    compensate,
  },
  ({ garment, pieces }, context) => {
    if (garment.trim() === '') throw new Failure('INVALID_INPUT', 'the garment has no description');
    const text = line(pieces, new Date().toISOString(), garment.trim());
    kv.set(place(context.externalKey), text);
    return output(context.externalKey, text);
  },
);

tool(
  'Mending.Show',
  {
    description: 'Shows a garment on the mending pile.',
    input: object({ ticket: string({ minLength: 1, maxLength: 128 }) }),
    output: dropped,
    effects: ['read_only'],
  },
  ({ ticket }) => {
    const text = kv.text(place(ticket));
    if (text === undefined) throw new Failure('INVALID_INPUT', `nothing on the pile has the ticket ${ticket}`);
    return parsed(ticket, text);
  },
);
