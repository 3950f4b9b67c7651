// Counts the parts of a construction kit: an assembly has assemblies, and each counts as often as all above it together.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, string } = schema;

/** Powers that were computed in this run, by their exponent. They follow from the exponent alone. */
const powers = new Map([[0, 1n]]);

function power(exponent) {
  for (let n = powers.size; n <= exponent; n++) powers.set(n, powers.get(n - 1) * 2n);
  return powers.get(exponent);
}

step(
  'Kit.Explode',
  {
    description: 'Counts how many of each part a kit needs, and packs them in boxes that double in size.',
    input: object({ kit: any() }),
    output: object({ parts: array(object({ name: string(), count: string(), box: integer() })), depth: integer(), materials: array(string()) }),
  },
  ({ kit }) => {
    const counts = new Map();
    const materials = new Set();
    // The recursion follows the nesting of the input, which has at most 64 levels.
    const walk = (part, times, level) => {
      if (typeof part?.name !== 'string' || part.name === '') throw new Failure('INVALID_INPUT', `a part on level ${level} has no name`);
      const { count = 1, material, parts = [] } = part;
      if (!Number.isSafeInteger(count) || count < 0) throw new Failure('INVALID_INPUT', `${part.name} has no usable count`);
      if (!Array.isArray(parts)) throw new Failure('INVALID_INPUT', `the parts of ${part.name} are no list`);
      if (typeof material === 'string') materials.add(material);
      const all = times * BigInt(count);
      if (parts.length === 0) counts.set(part.name, (counts.get(part.name) ?? 0n) + all);
      let deepest = level;
      for (const inner of parts) deepest = Math.max(deepest, walk(inner, all, level + 1));
      return deepest;
    };
    const depth = walk(kit, 1n, 1);
    const names = [...counts.keys()].sort();
    return {
      // A count can be 2^53 or more, so it is a string.
      parts: names.map((name) => ({ name, count: String(counts.get(name)), box: box(counts.get(name)) })),
      depth,
      materials: [...materials].sort(),
    };
  },
);

/** Number of the smallest box with room for `count` parts. A count has at most 64 factors below 2^53. */
function box(count) {
  let exponent = 0;
  while (power(exponent) < count) exponent += 1;
  return exponent;
}
