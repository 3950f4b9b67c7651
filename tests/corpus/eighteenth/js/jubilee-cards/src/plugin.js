import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// The printer has 26 columns for a name and 90 for a wish.
const NAME_WIDTH = 26;
const WISH_WIDTH = 90;

const tidy = (text) => text.trim().replace(/\s+/g, ' ');

// Shortens a text to the width of its field, with an ellipsis at its end.
function fit(text, width) {
  const clean = tidy(text);
  if (clean.length <= width) return clean;
  return `${clean.slice(0, width - 1).trimEnd()}…`;
}

// 25 becomes "25th", 52 becomes "52nd".
function ordinal(years) {
  const tens = years % 100;
  if (tens >= 11 && tens <= 13) return `${years}th`;
  return `${years}${{ 1: 'st', 2: 'nd', 3: 'rd' }[years % 10] ?? 'th'}`;
}

step(
  'Jubilee.Cards',
  {
    description: 'Lays out the cards of employees who celebrate a jubilee.',
    input: object({
      year: integer({ minimum: 1900, maximum: 2200 }),
      people: array(object({ name: string(), joined: integer({ minimum: 1800, maximum: 2200 }), wish: string() }), {
        maxItems: 2000,
      }),
    }),
    output: object({
      cards: array(object({ name: string(), title: string(), wish: string() })),
      skipped: integer(),
    }),
  },
  (input) => {
    const cards = [];
    let skipped = 0;
    for (const person of input.people) {
      const years = input.year - person.joined;
      if (years < 0) throw new Failure('INVALID_INPUT', `a person joined in ${person.joined}, after ${input.year}`);
      // A jubilee is every tenth year, and the 25th.
      if (years === 0 || (years % 10 !== 0 && years !== 25)) {
        skipped += 1;
        continue;
      }
      if (tidy(person.name) === '') throw new Failure('INVALID_INPUT', `card ${cards.length + 1} has no name`);
      cards.push({
        name: fit(person.name, NAME_WIDTH),
        title: `${ordinal(years)} jubilee`,
        wish: tidy(person.wish) === '' ? 'With many thanks!' : fit(person.wish, WISH_WIDTH),
      });
    }
    return { cards, skipped };
  },
);
