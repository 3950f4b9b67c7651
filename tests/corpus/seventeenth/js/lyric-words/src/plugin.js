// Counts the words of a song, for a choir that prints its vocabulary beside the translation.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

/** Characters of the first line that stand in the table of contents. */
const HEADING = 24;

const line = object({ word: string(), count: integer() });

/** The words of a verse in lower case: letters, digits, apostrophes and underscores. */
function words(verse) {
  return verse.toLowerCase().match(/[\p{L}\p{M}\p{N}_'’]+/gu) ?? [];
}

/** The beginning of a line, for the table of contents. */
function heading(verse) {
  const characters = [...verse.split('\n')[0].trim()];
  return characters.length > HEADING ? `${characters.slice(0, HEADING).join('')}…` : characters.join('');
}

/** Frequent words first, and words of equal frequency in the order of their code units. */
function frequentFirst([wordA, countA], [wordB, countB]) {
  if (countA !== countB) return countB - countA;
  return wordA < wordB ? -1 : 1;
}

step(
  'Lyrics.Count',
  {
    description: 'Counts the words of a song, and lists its most frequent words.',
    input: object({
      title: string({ minLength: 1, maxLength: 200 }),
      verses: array(string({ maxLength: 600 }), { maxItems: 12 }),
      top: optional(integer({ minimum: 1, maximum: 50 })),
    }),
    output: object({
      title: string(),
      heading: string(),
      counts: object({}, { additionalProperties: integer() }),
      top: array(line),
      mean_per_verse: { type: 'number' },
    }),
  },
  ({ title, verses, top = 5 }) => {
    const counts = new Map();
    let total = 0;
    for (const verse of verses) {
      for (const word of words(verse)) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
        total += 1;
      }
    }
    if (total === 0) throw new Failure('INVALID_INPUT', `${title} has no words`);
    const sorted = [...counts].sort(frequentFirst);
    return {
      title,
      heading: heading(verses.find((verse) => verse.trim() !== '').trim()),
      counts: Object.fromEntries(sorted),
      top: sorted.slice(0, top).map(([word, count]) => ({ word, count })),
      mean_per_verse: Math.round((total / verses.length) * 100) / 100,
    };
  },
);
