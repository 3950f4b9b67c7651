// Lends the instruments of a music school.

import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const WEEK = 7 * 24 * 3600;

const slip = object({ slip: string(), instrument: string(), student: string(), size: oneOf('half', 'full') });

tool(
  'Instrument.Lend',
  {
    description: 'Writes the slip of a lent instrument.',
    input: object({
      instrument: string({ minLength: 1, maxLength: 60 }),
      student: string({ minLength: 1, maxLength: 100 }),
      size: oneOf('half', 'full'),
    }),
    output: slip,
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
  },
  (args, context) => {
    if (args.student.trim() === '') throw new Failure('INVALID_INPUT', 'the slip needs the name of a student');
    const id = slipId(context.externalKey);
    const kept = kv.text(id);
    // A slip of an earlier try keeps its date.
    if (kept !== undefined) return shown(id, JSON.parse(kept));
    const made = { ...args, student: args.student.trim(), lent: new Date().toISOString().slice(0, 10) };
    kv.set(id, JSON.stringify(made));
    return shown(id, made);
  },
);

tool(
  'Instrument.Slip',
  {
    description: 'Returns the slip of a lent instrument.',
    input: object({ slip: string({ minLength: 1, maxLength: 160 }) }),
    output: object({ instrument: string(), student: string(), lent: string() }),
    effects: ['read_only'],
  },
  ({ slip: id }) => {
    const kept = kv.text(id);
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no slip ${id}`);
    const { instrument, student, lent } = JSON.parse(kept);
    return { instrument, student, lent };
  },
);

/** Returns the number of a slip, which fits on a label and in an address. */
function slipId(key) {
  return `slip-${key.replace(/[^A-Za-z0-9_-]/g, '-')}`;
}

/** Returns the part of a slip that the student gets. */
function shown(id, { instrument, student, size }) {
  return { slip: id, instrument, student, size };
}
