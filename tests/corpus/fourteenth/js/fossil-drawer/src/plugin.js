// Puts fossils into the drawers of a museum store, and finds the drawer of a fossil.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;

const number = string({ pattern: '^[A-Z]{2}-[0-9]{1,6}$' });
const place = (fossil) => `fossil/${fossil}`;
const slip = (key) => `slip/${key}`;

/** Drawers are named by cabinet, row and place, for example C4-07-2. */
function drawer({ cabinet, row, position = 1 }) {
  return `C${cabinet}-${String(row).padStart(2, '0')}-${position}`;
}

function stored(args, key) {
  return new Output(
    { fossil: args.fossil, drawer: drawer(args), slip: key },
    { changes: [{ resourceType: 'fossil', resourceId: args.fossil, operation: 'store', version: drawer(args) }] },
  );
}

tool(
  'Fossil.Store',
  {
    description: 'Puts a fossil into a drawer and writes the slip for the curator.',
    input: object({
      fossil: number,
      cabinet: integer({ minimum: 1, maximum: 40 }),
      row: integer({ minimum: 1, maximum: 30 }),
      position: optional(integer({ minimum: 1, maximum: 9 })),
      curator: string({ minLength: 1, maxLength: 80 }),
    }),
    output: object({ fossil: string(), drawer: string(), slip: string() }),
    effects: ['internal_write'],
    // Called after a crash. The slip has the key of its call.
    reconcile: (args, key) => (kv.get(slip(key)) === undefined ? 'did-not-happen' : happened(stored(args, key))),
  },
  (args, context) => {
    const curator = args.curator.trim();
    if (curator === '') throw new Failure('INVALID_INPUT', `the curator of ${args.fossil} has no name`);
    const key = context.externalKey;
    kv.set(place(args.fossil), JSON.stringify({ drawer: drawer(args), slip: key }));
    try {
      kv.set(slip(key), JSON.stringify({ fossil: args.fossil, curator }));
    } catch (error) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the slip of ${args.fossil}: ${error.message}`, { applied: 'unknown' });
    }
    return stored(args, key);
  },
);

tool(
  'Fossil.Find',
  {
    description: 'Finds the drawer of a fossil.',
    input: object({ fossil: number }),
    output: object({ drawer: string() }),
  },
  ({ fossil }) => {
    const kept = kv.text(place(fossil));
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `${fossil} is in no drawer`);
    return { drawer: JSON.parse(kept).drawer };
  },
);
