// Borders of a mosaic floor: in how many ways a border can be laid with tiles of given lengths, and one of these ways,
// which the name of the room selects.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Counts by set of tiles. Corridors of one house often share their tiles, and a table that was counted for a long
// corridor serves the short ones.
const tables = new Map();

function ways(lengths, total) {
  const name = lengths.join(' ');
  const table = tables.get(name) ?? [1n];
  tables.set(name, table);
  while (table.length <= total) {
    let sum = 0n;
    for (const length of lengths) if (length <= table.length) sum += table[table.length - length];
    table.push(sum);
  }
  return table;
}

/** A generator of numbers below 2^32 that a text seeds: the same text, the same numbers. */
function seeded(text) {
  let state = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) state = Math.imul(state ^ byte, 0x01000193) >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  };
}

/** Lays the border with the number `index`: each tile is chosen by the number of ways that follow it. */
function lay(lengths, table, total, index) {
  const tiles = [];
  let left = total;
  while (left > 0) {
    for (const length of lengths) {
      if (length > left) continue;
      const following = table[left - length];
      if (index < following) {
        tiles.push(length);
        left -= length;
        break;
      }
      index -= following;
    }
  }
  return tiles;
}

step(
  'Border.Plan',
  {
    description: 'Counts the ways to lay the borders of rooms, and selects one for each room.',
    input: object({
      tiles_cm: array(integer({ minimum: 1, maximum: 60 }), { minItems: 1, maxItems: 12 }),
      rooms: array(object({ name: string({ minLength: 1, maxLength: 60 }), border_cm: integer({ minimum: 1, maximum: 600 }) }), {
        minItems: 1,
        maxItems: 24,
      }),
    }),
    // The counts have up to 180 digits, so they are texts.
    output: object({
      rooms: array(object({ name: string(), ways: string({ pattern: '^[1-9]\\d*$' }), tiles_cm: array(integer()) })),
    }),
  },
  ({ tiles_cm: tiles, rooms }) => {
    const lengths = [...new Set(tiles)].sort((a, b) => a - b);
    const planned = rooms.map(({ name, border_cm: total }) => {
      const table = ways(lengths, total);
      if (table[total] === 0n) throw new Failure('INVALID_INPUT', `${name}: ${total} cm cannot be laid with ${lengths.join(', ')} cm`);
      const next = seeded(`${name}/${total}/${lengths.join(' ')}`);
      let index = 0n;
      for (let word = 0; word < 20; word++) index = (index << 32n) | BigInt(next());
      return { name, ways: String(table[total]), tiles_cm: lay(lengths, table, total, index % table[total]) };
    });
    return { rooms: planned };
  },
);
