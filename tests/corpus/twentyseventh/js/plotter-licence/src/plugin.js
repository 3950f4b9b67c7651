import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, boolean, integer, nullable } = schema;

// Licences of the chart plotters in the drawing office.
//
//   licence/<key>           the licence, under the key of the call that issued it
//   workstation/<name>      which licence the plotter software on a workstation starts with
const place = (id) => `licence/${id}`;
const station = (name) => `workstation/${name.toLowerCase()}`;

const WEEK = 7 * 24 * 3600;

function issued(id, licence) {
  return new Output(
    { id, serial: licence.serial, seats: licence.seats, issued_at: licence.issued_at },
    { receipt: { serial: licence.serial } },
  );
}

const serial = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) => (byte % 32).toString(32).toUpperCase())
    .join('')
    .replace(/(.{5})(?=.)/g, '$1-');

tool(
  'Licence.Issue',
  {
    description: 'Issues a licence for a workstation.',
    input: object({
      product: string({ minLength: 1, maxLength: 60 }),
      workstation: string({ pattern: '^[A-Za-z0-9-]{1,40}$' }),
      holder: string({ minLength: 1, maxLength: 120 }),
      seats: integer({ minimum: 1, maximum: 50 }),
    }),
    output: object({ id: string(), serial: string(), seats: integer(), issued_at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
  },
  (args, context) => {
    if (/^test/i.test(args.product) && args.seats > 1) {
      throw new Failure('INVALID_INPUT', 'a test licence has one seat');
    }
    const id = context.externalKey;
    // The serial is drawn once. A repetition of the call hands out the serial of the licence that is there.
    const present = kv.text(place(id));
    if (present !== undefined) return issued(id, JSON.parse(present));

    const licence = {
      product: args.product,
      holder: args.holder,
      seats: args.seats,
      serial: serial(),
      issued_at: new Date().toISOString(),
    };
    kv.set(place(id), JSON.stringify(licence));
    kv.set(station(args.workstation), id);
    return issued(id, licence);
  },
);

tool(
  'Licence.Start',
  {
    description: 'Tells the plotter software of a workstation whether it may start.',
    input: object({ workstation: string({ pattern: '^[A-Za-z0-9-]{1,40}$' }) }),
    output: object({ allowed: boolean(), serial: nullable(string()) }),
  },
  ({ workstation }) => {
    const id = kv.text(station(workstation));
    if (id === undefined) return { allowed: false, serial: null };
    const text = kv.text(place(id));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the licence ${id} of ${workstation} is missing`);
    return { allowed: true, serial: JSON.parse(text).serial };
  },
);
