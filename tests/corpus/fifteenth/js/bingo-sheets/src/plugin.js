import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const LETTERS = [...'BINGO'];

/** Numbers of each column, computed at first use in a run. */
const columns = new Map();

function numbers(letter) {
  if (!columns.has(letter)) {
    const first = LETTERS.indexOf(letter) * 15 + 1;
    columns.set(letter, Array.from({ length: 15 }, (_, at) => first + at));
  }
  return columns.get(letter);
}

/** Draws `count` different numbers of a column. */
function draw(letter, count) {
  const rest = [...numbers(letter)];
  const drawn = [];
  while (drawn.length < count) drawn.push(...rest.splice(Math.floor(Math.random() * rest.length), 1));
  return drawn.sort((a, b) => a - b);
}

/** Makes a sheet of five rows. The field in the middle is free and has the number 0. */
function sheet() {
  const drawn = LETTERS.map((letter) => draw(letter, 5));
  const rows = [0, 1, 2, 3, 4].map((row) => drawn.map((column) => column[row]));
  rows[2][2] = 0;
  return rows;
}

step(
  'Bingo.Print',
  {
    description: 'Draws different bingo sheets for an evening in the village hall.',
    input: object({ evening: string({ minLength: 1 }), sheets: integer({ minimum: 1, maximum: 60 }) }),
    output: object({
      evening: string(),
      sheets: array(object({ number: integer(), serial: string(), rows: array(array(integer())) })),
    }),
    // Each job draws sheets of its own.
    determinism: 'stable',
  },
  (input) => {
    if (input.evening.trim() === '') throw new Failure('INVALID_INPUT', 'the evening has no name');
    const made = new Map();
    // Two equal sheets are very unlikely. The number of rounds is bounded nevertheless.
    for (let round = 0; made.size < input.sheets && round < input.sheets + 100; round++) {
      const rows = sheet();
      made.set(rows.flat().join(' '), rows);
    }
    if (made.size < input.sheets) throw new Failure('TEMPORARY_PROVIDER_ERROR', 'the draw gave equal sheets');
    const sheets = [...made.values()].map((rows, at) => ({ number: at + 1, serial: crypto.randomUUID(), rows }));
    return { evening: input.evening.trim(), sheets };
  },
);
