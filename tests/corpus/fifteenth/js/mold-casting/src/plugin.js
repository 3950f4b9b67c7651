import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

/** Weight of a cubic centimeter of metal in milligrams. */
const DENSITY = { bronze: 8800, brass: 8500, iron: 7200 };

const entryName = (key) => `casting/${key}`;

const change = (key, operation, version) => ({ resourceType: 'casting', resourceId: key, operation, version });

/** Makes the output of a casting from its entry. The first try and a repetition return the same. */
function output(key, entry) {
  const { mold, grams, poured_at } = JSON.parse(entry);
  return new Output({ casting: key, mold, grams, poured_at }, { receipt: { casting: key, poured_at }, changes: [change(key, 'create', poured_at)] });
}

tool(
  'Casting.Record',
  {
    description: 'Records in the book of the foundry that a mold was poured.',
    input: object({
      mold: string({ minLength: 1, maxLength: 100 }),
      metal: oneOf('bronze', 'brass', 'iron'),
      volume: integer({ minimum: 1, maximum: 5000000 }),
    }),
    output: object({ casting: string(), mold: string(), grams: integer(), poured_at: string() }),
    effects: ['internal_write'],
    // The entry stays for good, so a repetition always finds it.
    idempotentByKeySeconds: 7 * 86400,
    compensate: (args, result, key) => {
      const entry = kv.text(entryName(key));
      if (entry === undefined) throw new Failure('POLICY_DENIED', 'the casting is no longer in the book');
      if (JSON.parse(entry).poured_at !== result.poured_at) throw new Failure('POLICY_DENIED', 'the casting was changed');
      if (!kv.delete(entryName(key))) throw new Failure('POLICY_DENIED', 'the casting is no longer in the book');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    const key = context.externalKey;
    // An earlier try of this call may have written the entry. Its time is kept.
    const earlier = kv.text(entryName(key));
    if (earlier !== undefined) return output(key, earlier);
    const grams = Math.round((args.volume * DENSITY[args.metal]) / 1000);
    if (grams > 30000000) throw new Failure('INVALID_INPUT', `the crane lifts 30 tons, and the casting has ${grams} grams`);
    const entry = JSON.stringify({ mold: args.mold, metal: args.metal, grams, poured_at: new Date().toISOString() });
    kv.set(entryName(key), entry);
    return output(key, entry);
  },
);
