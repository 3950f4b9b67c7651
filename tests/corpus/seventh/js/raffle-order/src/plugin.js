import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const entry = object({ name: string({ minLength: 1 }), tickets: integer({ minimum: 1, maximum: 50 }) });

const hashes = new Map();

function hash(text) {
  if (!hashes.has(text)) {
    let h = 0x811c9dc5;
    for (const character of text) h = Math.imul(h ^ character.codePointAt(0), 0x01000193) >>> 0;
    hashes.set(text, h);
  }
  return hashes.get(text);
}

/** A small random generator (mulberry32) that starts with the published seed of the raffle. */
function generator(seed) {
  let state = hash(seed);
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

step(
  'Raffle.Order',
  {
    description: 'Draws the order of the winners from the tickets and the seed that was published beforehand.',
    input: object({ seed: string({ minLength: 1 }), held: string(), entries: array(entry, { minItems: 1, maxItems: 40 }) }),
    output: object({ winners: array(string()), tickets: integer(), claim_by: string() }),
    determinism: 'pure',
  },
  ({ seed, held, entries }) => {
    const day = new Date(`${held}T00:00:00Z`);
    if (!/^\d{4}-\d{2}-\d{2}$/.test(held) || Number.isNaN(day.getTime())) throw new Failure('INVALID_INPUT', `${held} is no date`);
    const random = generator(`${seed}/${held}`);
    const urn = entries.flatMap(({ name, tickets }) => Array(tickets).fill(name));
    for (let i = urn.length - 1; i > 0; i--) {
      const j = random(i + 1);
      [urn[i], urn[j]] = [urn[j], urn[i]];
    }
    console.log(`raffle of ${held}: ${urn.length} tickets, hash of the seed ${hash(seed)}`);
    day.setUTCDate(day.getUTCDate() + 30);
    return { winners: [...new Set(urn)], tickets: urn.length, claim_by: day.toISOString().slice(0, 10) };
  },
);
