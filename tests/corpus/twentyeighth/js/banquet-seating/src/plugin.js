// Seating of a banquet: guests are mixed by lot, but so that everybody can repeat the lot from the list.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

/** Hash of a text (FNV-1a, 32 bits), as the seed of the lot. */
function hash(text) {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return value;
}

/** A generator (mulberry32) with the seed of its caller. */
function lot(seed) {
  let state = seed;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  };
}

const distances = new Map();

/** Levenshtein distance without the case of letters. Computed once for each pair of a run. */
function distance(one, other) {
  if (Math.abs(one.length - other.length) > 4) return Infinity;
  const key = JSON.stringify(one < other ? [one, other] : [other, one]);
  if (!distances.has(key)) {
    const [a, b] = JSON.parse(key.toLowerCase()).map((name) => [...name]);
    let row = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 0; i < a.length; i++) {
      const next = [i + 1];
      for (let j = 0; j < b.length; j++) next.push(Math.min(row[j + 1] + 1, next[j] + 1, row[j] + (a[i] === b[j] ? 0 : 1)));
      row = next;
    }
    distances.set(key, row[b.length]);
  }
  return distances.get(key);
}

step(
  'Banquet.Seat',
  {
    description: 'Draws the seats of a banquet from the list of guests and the date, the same for everybody who repeats it.',
    input: object({
      date: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      seats: integer({ minimum: 2, maximum: 20 }),
      guests: array(string({ minLength: 1, maxLength: 40 }), { minItems: 1, maxItems: 100 }),
    }),
    output: object({ evening: string(), tables: array(array(string())), alike: array(array(string())) }),
    determinism: 'pure',
  },
  ({ date, seats, guests }) => {
    const evening = new Date(`${date}T19:00:00Z`);
    if (Number.isNaN(evening.getTime())) throw new Failure('INVALID_INPUT', `${date} is no date`);
    if (new Set(guests).size < guests.length) throw new Failure('INVALID_INPUT', 'a guest is in the list twice');
    console.log(`${guests.length} guests, ${seats} at a table`);
    const order = [...guests].sort();
    const next = lot(hash(JSON.stringify([date, order])));
    for (let i = order.length - 1; i > 0; i--) {
      const j = next(i + 1);
      [order[i], order[j]] = [order[j], order[i]];
    }
    const tables = [];
    for (let at = 0; at < order.length; at += seats) tables.push(order.slice(at, at + seats));
    // The cards of guests with nearly the same name are easily mixed up.
    const alike = tables.flatMap((names) => names.flatMap((one, at) => names.slice(at + 1).filter((other) => distance(one, other) <= 1).map((other) => [one, other])));
    return { evening: evening.toISOString(), tables, alike };
  },
);
