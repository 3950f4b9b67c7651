// Plans a hedge maze from a seed, so that the gardener can print the same plan again.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Numbers of the seeds, computed once in a run. */
const numbers = new Map();

step(
  'Hedge.Plan',
  {
    description: 'Plans a hedge maze. The same seed gives the same maze.',
    input: object({
      seed: string({ minLength: 1, maxLength: 60 }),
      width: integer({ minimum: 2, maximum: 12 }),
      height: integer({ minimum: 2, maximum: 12 }),
    }),
    output: object({ rows: array(string()), way: integer(), dead_ends: integer() }),
  },
  ({ seed, width, height }) => {
    if (seed.trim() === '') throw new Failure('INVALID_INPUT', 'the seed is empty');
    if (!numbers.has(seed)) numbers.set(seed, numberOf(seed));
    const doors = carve(width, height, generator(numbers.get(seed)));
    return { rows: draw(width, height, doors), way: wayOut(width, height, doors), dead_ends: doors.filter((d) => d.size === 1).length };
  },
);

/** FNV-1a. */
function numberOf(seed) {
  let state = 2166136261;
  for (const character of seed) state = Math.imul(state ^ character.codePointAt(0), 16777619);
  return state;
}

/** Random numbers that follow from the number alone (mulberry32). */
function generator(state) {
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  };
}

function neighbours(width, height, cell) {
  const x = cell % width;
  const y = Math.floor(cell / width);
  const made = [];
  if (x > 0) made.push(cell - 1);
  if (x < width - 1) made.push(cell + 1);
  if (y > 0) made.push(cell - width);
  if (y < height - 1) made.push(cell + width);
  return made;
}

/** Depth first, with the open cells in a list. */
function carve(width, height, random) {
  const doors = Array.from({ length: width * height }, () => new Set());
  const seen = new Set([0]);
  const open = [0];
  while (open.length > 0) {
    const cell = open.at(-1);
    const free = neighbours(width, height, cell).filter((next) => !seen.has(next));
    if (free.length === 0) {
      open.pop();
      continue;
    }
    const next = free[random(free.length)];
    doors[cell].add(next);
    doors[next].add(cell);
    seen.add(next);
    open.push(next);
  }
  return doors;
}

/** Steps from the first cell to the last one. */
function wayOut(width, height, doors) {
  const steps = new Map([[0, 0]]);
  for (const [cell, count] of steps) {
    for (const next of doors[cell]) if (!steps.has(next)) steps.set(next, count + 1);
  }
  return steps.get(width * height - 1);
}

function draw(width, height, doors) {
  const rows = ['#'.repeat(2 * width + 1)];
  for (let y = 0; y < height; y++) {
    let cells = '#';
    let below = '#';
    for (let x = 0; x < width; x++) {
      const cell = y * width + x;
      cells += doors[cell].has(cell + 1) && x < width - 1 ? '  ' : ' #';
      below += doors[cell].has(cell + width) ? ' #' : '##';
    }
    rows.push(cells, below);
  }
  return rows;
}
