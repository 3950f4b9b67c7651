// Shelves the pieces of a theatre wardrobe after a production.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

/** Rails by size. Children's sizes hang in another house. */
const RAILS = { XS: 'A', S: 'A', M: 'B', L: 'C', XL: 'D', XXL: 'D' };

const piece = object({
  code: string({ minLength: 1, maxLength: 40 }),
  size: string({ minLength: 1, maxLength: 10 }),
  stains: optional(string({ maxLength: 200 })),
});

tool(
  'Wardrobe.Shelve',
  {
    description: 'Shelves the pieces of a production, each with its rail.',
    input: object({ production: string({ minLength: 1, maxLength: 100 }), pieces: array(piece, { minItems: 1, maxItems: 80 }) }),
    output: object({ batch: string(), rails: array(string()), for_cleaning: integer() }),
    effects: ['internal_write'],
  },
  ({ production, pieces }, context) => {
    const rails = new Set();
    const changes = [];
    let cleaning = 0;
    for (const [i, { code, size, stains }] of pieces.entries()) {
      const rail = railOf(code, size);
      const name = `piece/${context.externalKey}/${i}`;
      kvSet(name, JSON.stringify({ production, code, rail, stains: stains ?? null }), i > 0);
      changes.push({ resourceType: 'piece', resourceId: name, operation: 'create', version: rail });
      rails.add(rail);
      if (stains) cleaning += 1;
    }
    console.log(`${pieces.length} pieces of ${production}, ${cleaning} for cleaning`);
    return new Output({ batch: context.externalKey, rails: [...rails].sort(), for_cleaning: cleaning }, { changes });
  },
);

function railOf(code, size) {
  const rail = Object.hasOwn(RAILS, size.toUpperCase()) ? RAILS[size.toUpperCase()] : undefined;
  if (rail === undefined) throw new Failure('INVALID_INPUT', `${code}: there is no rail for size ${size}`);
  return rail;
}

/** Writes an entry. If earlier entries are written, a failure leaves the batch in doubt. */
function kvSet(name, text, later) {
  try {
    kv.set(name, text);
  } catch (error) {
    if (later && error instanceof Failure) throw new Failure(error.code, error.message, { applied: 'unknown', cause: error });
    throw error;
  }
}
