import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, boolean, optional } = schema;

const FAMILIES = ['fruit', 'flower', 'spice', 'wood', 'earth', 'mineral'];
const MODEL = 'sommelier-small-2025-11';

function prompt(note) {
  return [
    `Name the families of aromas in this tasting note. Use only: ${FAMILIES.join(', ')}.`,
    'Answer with the names alone, separated by commas, in the order of the list.',
    '',
    note,
  ].join('\n');
}

/** Reads the answer, leaving out whatever is not in the list, and restores the order of the list. */
function familiesIn(text) {
  const named = new Set(text.toLowerCase().split(/[^a-z]+/));
  return FAMILIES.filter((family) => named.has(family));
}

/** A note that says nothing about aromas needs no model. */
function isBare(note) {
  return note.split(/\s+/).filter((word) => word.length > 3).length < 3;
}

step(
  'Vintage.Describe',
  {
    description: 'Finds the families of aromas in a tasting note.',
    input: object({
      wine: string({ minLength: 1, maxLength: 120 }),
      year: integer({ minimum: 1900, maximum: 2100 }),
      note: string({ maxLength: 20000 }),
      strict: optional(boolean()),
    }),
    output: object({ wine: string(), year: integer(), families: array(string()) }),
    // The model is pinned by its date and asked with temperature 0 and a fixed seed: the same note gives the same
    // families.
    determinism: 'pure',
  },
  ({ wine, year, note, strict = false }) => {
    if (isBare(note)) {
      if (strict) throw new Failure('INVALID_INPUT', `the note about ${wine} ${year} is too short`);
      return { wine, year, families: [] };
    }
    const answer = tools.call('Model.Complete', {
      model: MODEL,
      messages: [{ role: 'user', content: prompt(note.trim()) }],
      params: { temperature: 0, seed: 7, max_tokens: 40 },
    });
    const families = familiesIn(answer.text);
    if (strict && families.length === 0) throw new Failure('INVALID_INPUT', `the note about ${wine} ${year} names no aroma`);
    return { wine, year, families };
  },
);
