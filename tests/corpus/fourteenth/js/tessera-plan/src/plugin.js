// Plans the tesserae of a mosaic: the parts of a nested panel share its tiles, and each part gets a tint.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, string } = schema;

const TINTS = ['ochre', 'umber', 'sienna', 'azure', 'viridian', 'bone'];
const DEEPEST = 40;

step(
  'Tessera.Plan',
  {
    description: 'Shares the tiles of a mosaic among the parts of its panel.',
    // A panel has a name, and either a weight or parts, which are panels.
    input: object({ title: string(), tiles: integer({ minimum: 1, maximum: 1000000 }), seed: integer({ minimum: 0 }), year: integer({ minimum: 1900, maximum: 2200 }), panel: any() }),
    output: object({
      title: string(),
      laid_from: string(),
      parts: array(object({ path: string(), tiles: integer(), tint: string() })),
    }),
  },
  ({ title, tiles, seed, year, panel }) => {
    const leaves = [];
    walk(panel, [], leaves);
    const weight = leaves.reduce((sum, leaf) => sum + leaf.weight, 0);
    if (!(weight > 0)) throw new Failure('INVALID_INPUT', `${title} has no part with a weight`);
    const random = generator(seed);
    let used = 0;
    const parts = leaves.map((leaf) => {
      const exact = (tiles * leaf.weight) / weight;
      used += Math.floor(exact);
      return { path: leaf.path, tiles: Math.floor(exact), rest: exact % 1, tint: TINTS[random(TINTS.length)] };
    });
    // The parts with the largest remainders get the tiles that are left.
    const order = parts.map((_, at) => at).sort((a, b) => parts[b].rest - parts[a].rest || a - b);
    for (let at = 0; used < tiles; at += 1, used += 1) parts[order[at % order.length]].tiles += 1;
    return {
      title,
      laid_from: new Date(Date.UTC(year, 4, 1)).toISOString().slice(0, 10),
      parts: parts.map(({ path, tiles: count, tint }) => ({ path, tiles: count, tint })),
    };
  },
);

function walk(panel, above, leaves) {
  if (panel === null || typeof panel !== 'object' || typeof panel.name !== 'string') throw new Failure('INVALID_INPUT', `a part of ${above.join('/') || 'the panel'} has no name`);
  const path = [...above, panel.name];
  if (path.length > DEEPEST) throw new Failure('INVALID_INPUT', `${path[0]} is nested too deeply`);
  if (Array.isArray(panel.parts)) {
    for (const part of panel.parts) walk(part, path, leaves);
  } else {
    const weight = panel.weight ?? 1;
    if (typeof weight !== 'number' || weight < 0 || weight > 1e6) throw new Failure('INVALID_INPUT', `${path.join('/')} has no usable weight`);
    leaves.push({ path: path.join('/'), weight });
  }
}

/** A small generator that depends on its seed alone. */
function generator(seed) {
  let state = (seed % 4294967296) >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 4294967296) * bound);
  };
}
