// Reads the rows of a lace pattern and counts their stitches.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Stitches that a symbol takes from the needle, and stitches that it leaves on it. */
const STITCHES = {
  k: [1, 1],
  p: [1, 1],
  yo: [0, 1],
  sl: [1, 1],
  k2tog: [2, 1],
  ssk: [2, 1],
  k3tog: [3, 1],
  m1: [0, 1],
};

const row = object({ number: integer({ minimum: 1 }), before: integer(), after: integer(), symbols: integer() });

step(
  'Lace.Chart',
  {
    description: 'Counts the stitches of each row of a lace pattern.',
    input: object({
      pattern: string({ minLength: 1, maxLength: 100 }),
      cast_on: integer({ minimum: 1, maximum: 2000 }),
      rows: array(string({ maxLength: 2000 }), { minItems: 1, maxItems: 400 }),
    }),
    output: object({ pattern: string(), rows: array(row), widest: integer() }),
  },
  ({ pattern, cast_on: castOn, rows }, context) => {
    const counted = [];
    let needle = castOn;
    for (const [at, text] of rows.entries()) {
      const { taken, left, symbols } = read(pattern, at + 1, text, context);
      if (taken !== needle) {
        throw new Failure('INVALID_INPUT', `${pattern}, row ${at + 1}: works ${taken} of ${needle} stitches`);
      }
      counted.push({ number: at + 1, before: needle, after: left, symbols });
      needle = left;
    }
    return { pattern, rows: counted, widest: Math.max(castOn, ...counted.map(({ after }) => after)) };
  },
);

/** Reads one row such as `k3 yo k2tog p2`. A number behind k, p or sl repeats the symbol. */
function read(pattern, number, text, context) {
  let taken = 0;
  let left = 0;
  let symbols = 0;
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const repeated = /^(k|p|sl)(\d{1,4})$/.exec(word);
    const [symbol, times] = repeated ? [repeated[1], Number(repeated[2])] : [word, 1];
    const known = Object.hasOwn(STITCHES, symbol) ? STITCHES[symbol] : undefined;
    if (known === undefined) {
      // The message names the designer, who can correct the row.
      throw new Failure('INVALID_INPUT', `${pattern}, row ${number}: no stitch "${word}", ask ${context.actor}`);
    }
    taken += known[0] * times;
    left += known[1] * times;
    symbols += times;
  }
  return { taken, left, symbols };
}
