import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, boolean, array } = schema;

// Bells in the order of their size; a stage has the first of them.
const BELLS = '1234567890ET';
const MOST_ROWS = 6000;

/** Splits place notation such as "x16x16" or "5.1.5.3" into changes: each is the list of the places that are made. */
function changesOf(notation, stage) {
  const changes = [];
  for (const token of notation.toUpperCase().match(/X|-|[0-9ET]+/g) ?? []) {
    if (token === 'X' || token === '-') {
      if (stage % 2 === 1) throw new Failure('INVALID_INPUT', `a cross needs an even number of bells, not ${stage}`);
      changes.push([]);
      continue;
    }
    const places = [...token].map((bell) => BELLS.indexOf(bell));
    if (places.some((place) => place < 0 || place >= stage)) throw new Failure('INVALID_INPUT', `${token} is no place on ${stage} bells`);
    changes.push(places);
  }
  if (changes.length === 0) throw new Failure('INVALID_INPUT', 'the notation has no change');
  return changes;
}

/** Rings one change: bells that make no place swap with their neighbour. */
function ring(row, places) {
  const next = [...row];
  for (let at = 0; at < row.length; at++) {
    if (places.includes(at)) continue;
    if (at + 1 >= row.length || places.includes(at + 1)) throw new Failure('INVALID_INPUT', `the change ${places.map((p) => BELLS[p]).join('')} leaves bell ${row[at]} alone`);
    [next[at], next[at + 1]] = [row[at + 1], row[at]];
    at += 1;
  }
  return next;
}

step(
  'Peal.Prove',
  {
    description: 'Proves a plain course: rings it until rounds come back, and looks for rows that repeat.',
    input: object({
      title: string({ minLength: 1, maxLength: 100 }),
      stage: integer({ minimum: 3, maximum: 12 }),
      notation: string({ minLength: 1, maxLength: 500 }),
    }),
    output: object({ title: string(), true: boolean(), rows: integer(), leads: integer(), lead_heads: array(string()), repeats: array(string()) }),
    determinism: 'pure',
  },
  (input) => {
    console.time(input.title);
    const changes = changesOf(input.notation, input.stage);
    const rounds = BELLS.slice(0, input.stage);
    const seen = new Set();
    const repeats = [];
    const heads = [];
    let row = [...rounds];
    do {
      for (const places of changes) {
        row = ring(row, places);
        const text = row.join('');
        if (seen.has(text)) repeats.push(text);
        seen.add(text);
      }
      heads.push(row.join(''));
      if (heads.length * changes.length > MOST_ROWS) throw new Failure('INVALID_INPUT', `${input.title} does not come round in ${MOST_ROWS} rows`);
    } while (heads.at(-1) !== rounds);
    console.timeEnd(input.title);
    return {
      title: input.title,
      true: repeats.length === 0,
      rows: heads.length * changes.length,
      leads: heads.length,
      lead_heads: heads,
      repeats: repeats.slice(0, 20),
    };
  },
);
