import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

/** Length of the first paragraph in the printed column, and width of the column. */
const LEAD = 160;
const COLUMN = 34;

/** Joins the words of a text with single spaces. */
const tidy = (text) => text.split(/\s+/).filter(Boolean).join(' ');

/** Shortens a text to the length of the lead, if possible at the end of a sentence. */
function lead(text) {
  if (text.length <= LEAD) return text;
  const cut = text.slice(0, LEAD);
  const end = cut.lastIndexOf('. ');
  return end > LEAD / 2 ? cut.slice(0, end + 1) : `${cut}…`;
}

/** Writes the years of a life, with a question mark for an unknown year of birth. */
const years = (born, died) => `${born ?? '?'}–${died}`;

step(
  'Obituary.Set',
  {
    description: 'Sets the lead of an obituary in the lines of a narrow newspaper column.',
    input: object({
      name: string({ minLength: 1 }),
      born: optional(integer()),
      died: integer(),
      tribute: string(),
    }),
    output: object({ heading: string(), lines: array(string()), depth: integer() }),
  },
  (input) => {
    const text = tidy(input.tribute);
    if (text === '') throw new Failure('INVALID_INPUT', 'the tribute is empty');
    if (input.born !== undefined && input.born > input.died) throw new Failure('INVALID_INPUT', 'the year of birth is after the year of death');
    // The hyphenation follows from its text alone.
    const set = tools.call('Hyphen.Break', { language: 'en', width: COLUMN, text: lead(text) });
    const lines = set.lines.map((line) => line.trimEnd());
    return { heading: `${tidy(input.name)} (${years(input.born, input.died)})`, lines, depth: lines.length };
  },
);
