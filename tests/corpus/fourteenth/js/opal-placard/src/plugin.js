// Writes the two lines of the small displays beside the stones of an exhibition.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

/** Characters of one line of a display. */
const WIDTH = 24;

step(
  'Placard.Write',
  {
    description: 'Writes the placards of the stones of a case to the displays of the case.',
    input: object({
      showcase: string({ minLength: 1 }),
      stones: array(object({ name: string(), origin: optional(string()), carats: optional(schema.number({ minimum: 0 })) }), { maxItems: 40 }),
    }),
    output: object({ showcase: string(), shown: integer(), shortened: array(string()) }),
    effects: ['external_write'],
    // The displays are another system, and their answers change.
    determinism: 'external',
  },
  ({ showcase, stones }) => {
    const shortened = [];
    let shown = 0;
    stones.forEach((stone, at) => {
      const name = tidy(stone.name);
      if (name === '') throw new Failure('INVALID_INPUT', `stone ${at + 1} of ${showcase} has no name`);
      const first = line(name);
      if (first !== name) shortened.push(name);
      const answer = tools.call('Display.Show', { showcase, place: at + 1, lines: [first, line(subtitle(stone))] });
      if (answer.lit) shown += 1;
    });
    return { showcase, shown, shortened };
  },
);

/** Removes the spaces that a spreadsheet leaves in a name. */
function tidy(text) {
  return text.replace(/\s+/g, ' ').trim();
}

function subtitle({ origin, carats }) {
  const parts = [];
  if (origin) parts.push(tidy(origin));
  if (carats !== undefined) parts.push(`${carats.toFixed(2)} ct`);
  return parts.join(', ');
}

/** Cuts a text to the width of the display and marks the cut. */
function line(text) {
  return text.length <= WIDTH ? text : `${text.slice(0, WIDTH - 1)}…`;
}
