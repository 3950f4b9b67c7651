// Keeps the passes of lorries that may drive onto the wharf.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const DAY = 24 * 60 * 60;

/** The name of the entry of a call, as the gate terminal prints it. */
const entryOf = (key) => `pass-${key.replace(/[^A-Za-z0-9]+/g, '-')}`;

function content({ plate, haulier, berth, valid_on }) {
  return JSON.stringify({ plate: plate.toUpperCase(), haulier, berth, valid_on });
}

const change = (entry, operation) => ({ resourceType: 'wharf-pass', resourceId: entry, operation });

tool(
  'Pass.Store',
  {
    description: 'Stores the pass of a lorry for one day on the wharf.',
    input: object({
      plate: string({ minLength: 2, maxLength: 12 }),
      haulier: string({ minLength: 1, maxLength: 80 }),
      berth: string({ minLength: 1, maxLength: 10 }),
      valid_on: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
    }),
    output: object({ entry: string(), plate: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * DAY,
    // Takes the pass back while it is still the pass of this call.
    compensate: (args, result, key) => {
      const entry = entryOf(key);
      if (kv.text(entry) !== content(args)) {
        throw new Failure('POLICY_DENIED', `the pass ${entry} was changed or removed`);
      }
      kv.delete(entry);
      return new Output(null, { changes: [change(entry, 'delete')] });
    },
  },
  (args, context) => {
    if (!/[0-9]/.test(args.plate)) throw new Failure('INVALID_INPUT', `the plate ${args.plate} has no digit`);
    const entry = entryOf(context.externalKey);
    kv.set(entry, content(args));
    return new Output({ entry, plate: args.plate.toUpperCase() }, { changes: [change(entry, 'create')] });
  },
);

tool(
  'Pass.Show',
  {
    description: 'Shows the pass with this entry name.',
    input: object({ entry: string({ pattern: '^pass-[A-Za-z0-9-]+$', maxLength: 200 }) }),
    output: object({ plate: string(), haulier: string(), berth: string(), valid_on: string() }),
    effects: ['read_only'],
  },
  ({ entry }) => {
    const text = kv.text(entry);
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no pass ${entry}`);
    return JSON.parse(text);
  },
);
