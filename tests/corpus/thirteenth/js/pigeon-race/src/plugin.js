// Ranks the pigeons of a race by their velocity.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, optional, string } = schema;

const bird = object({
  ring: string({ minLength: 1, maxLength: 40 }),
  loft: string({ minLength: 1, maxLength: 80 }),
  km: number({ minimum: 1, maximum: 1500 }),
  // Left out for a bird that is not home yet.
  minutes: optional(number({ minimum: 1, maximum: 20000 })),
});

step(
  'Pigeon.Rank',
  {
    description: 'Ranks the birds of a race by metres per minute.',
    input: object({ race: string({ minLength: 1 }), birds: array(bird, { minItems: 1, maxItems: 2000 }) }),
    output: object({
      race: string(),
      winner: string(),
      best_loft: string(),
      ranking: array(object({ place: integer(), ring: string(), metres_per_minute: number() })),
      missing: integer(),
    }),
  },
  ({ race, birds }) => {
    const rings = new Set();
    for (const { ring } of birds) {
      if (rings.has(ring)) throw new Failure('INVALID_INPUT', `ring ${ring} is listed twice`);
      rings.add(ring);
    }
    const home = birds
      .filter(({ minutes }) => minutes !== undefined)
      .map(({ ring, loft, km, minutes }) => ({ ring, loft, speed: Math.round((km * 1000000) / minutes) / 1000 }))
      .sort((a, b) => b.speed - a.speed || (a.ring < b.ring ? -1 : 1));
    return {
      race,
      winner: home[0]?.ring,
      best_loft: bestLoft(home) ?? 'none',
      ranking: places(home),
      missing: birds.length - home.length,
    };
  },
);

/** Birds of equal velocity share a place. */
function places(home) {
  const made = [];
  for (const [i, { ring, speed }] of home.entries()) {
    const before = made.at(-1);
    const place = before?.metres_per_minute === speed ? before.place : i + 1;
    made.push({ place, ring, metres_per_minute: speed });
  }
  return made;
}

/** The loft with most birds among the first tenth, the better placed one if two are equal. */
function bestLoft(home) {
  const counts = new Map();
  for (const { loft } of home.slice(0, Math.ceil(home.length / 10))) counts.set(loft, (counts.get(loft) ?? 0) + 1);
  let best;
  for (const [loft, count] of counts) if (best === undefined || count > counts.get(best)) best = loft;
  return best;
}
