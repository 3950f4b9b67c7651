// Finds the nearest word of a list for each word of a text. The distances of a run are kept in a global table, because
// words are repeated in a text.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const distances = new Map();

function distance(a, b) {
  const name = JSON.stringify([a, b]);
  const known = distances.get(name);
  if (known !== undefined) return known;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j] + 1, next[j - 1] + 1));
    }
    row = next;
  }
  distances.set(name, row[b.length]);
  return row[b.length];
}

step(
  'Word.Nearest',
  {
    description: 'Finds the nearest word of a list for each word of a text.',
    input: object({ text: string({ maxLength: 500 }), words: array(string({ maxLength: 30 }), { maxItems: 50 }) }),
    output: object({ nearest: array(object({ word: string(), found: string(), distance: integer() })) }),
  },
  ({ text, words }) => {
    if (words.length === 0) throw new Failure('INVALID_INPUT', 'the list of words is empty');
    const sorted = [...words].sort();
    const nearest = text
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => {
        const letters = [...word];
        let best = { word, found: sorted[0], distance: distance(letters, [...sorted[0]]) };
        for (const found of sorted) {
          const steps = distance(letters, [...found]);
          if (steps < best.distance) best = { word, found, distance: steps };
        }
        return best;
      });
    return { nearest };
  },
);
