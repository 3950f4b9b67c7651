import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Counts that are known already, by the sizes and the length of the cord.
const known = new Map();

// In how many orders knots of these sizes fill a cord. The numbers grow beyond what a double holds.
function count(sizes, length) {
  const key = `${sizes.join(',')}/${length}`;
  const before = known.get(key);
  if (before !== undefined) return before;
  const ways = [1n];
  for (let at = 1; at <= length; at += 1) {
    let sum = 0n;
    for (const size of sizes) if (size <= at) sum += ways[at - size];
    ways.push(sum);
  }
  known.set(key, ways[length]);
  return ways[length];
}

step(
  'Knot.Count',
  {
    description: 'Counts the patterns of knots that fit on cords.',
    input: object({
      cords: array(
        object({
          name: string(),
          length: integer({ minimum: 0, maximum: 200 }),
          sizes: array(integer({ minimum: 1, maximum: 50 }), { minItems: 1, maxItems: 10 }),
        }),
        { minItems: 1, maxItems: 100 },
      ),
    }),
    output: object({
      cords: array(object({ name: string(), patterns: string({ pattern: '^[0-9]+$' }) })),
      different: integer(),
    }),
    determinism: 'pure',
  },
  (input) => {
    const asked = new Set();
    const cords = input.cords.map((cord) => {
      const sizes = [...new Set(cord.sizes)].sort((a, b) => a - b);
      if (cord.length > 0 && sizes[0] > cord.length) {
        throw new Failure('INVALID_INPUT', `no knot fits on the cord ${cord.name}`);
      }
      asked.add(`${sizes.join(',')}/${cord.length}`);
      return { name: cord.name, patterns: count(sizes, cord.length).toString() };
    });
    return { cords, different: asked.size };
  },
);
