import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

/** A number from a text: FNV-1a, 32 bits, over its UTF-16 units. */
function seedOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Mulberry32: a generator whose numbers follow from its seed. */
function generator(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

function shuffled(items, random) {
  const list = [...items];
  for (let i = list.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

/** The days of the sowing week, one for each block, from the Monday on or after the given day. */
function sowing(day, block) {
  const at = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(at.getTime())) throw new Failure('INVALID_INPUT', `${day} is no day`);
  at.setUTCDate(at.getUTCDate() + ((8 - at.getUTCDay()) % 7) + block);
  return at.toISOString().slice(0, 10);
}

step(
  'Trial.Randomize',
  {
    description: 'Draws a randomized complete block design: each treatment once in every block, in an order that the trial code fixes.',
    input: object({
      code: string({ minLength: 1, maxLength: 60 }),
      treatments: array(string({ minLength: 1, maxLength: 60 }), { minItems: 2, maxItems: 60 }),
      blocks: integer({ minimum: 1, maximum: 12 }),
      not_before: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
    }),
    output: object({
      seed: integer(),
      blocks: array(object({ block: integer(), sown: string(), plots: array(object({ plot: integer(), treatment: string() })) })),
    }),
    determinism: 'pure',
  },
  ({ code, treatments, blocks, not_before: from }) => {
    // The order in which the treatments were typed must not matter.
    const sorted = [...new Set(treatments)].sort();
    if (sorted.length < treatments.length) throw new Failure('INVALID_INPUT', 'a treatment is named twice');
    const seed = seedOf(code);
    const random = generator(seed);
    const drawn = [];
    for (let block = 0; block < blocks; block++) {
      const plots = shuffled(sorted, random).map((treatment, i) => ({ plot: (block + 1) * 100 + i + 1, treatment }));
      drawn.push({ block: block + 1, sown: sowing(from, block), plots });
    }
    console.log(`${code}: ${blocks} blocks of ${sorted.length} plots, seed ${seed}`);
    return { seed, blocks: drawn };
  },
);
