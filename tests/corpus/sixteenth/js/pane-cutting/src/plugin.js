// Plans how the panes of a glazing job are cut from sheets of one width.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

/** Largest number of pieces in one plan. A larger job is split by the workshop. */
const PIECES = 400;

const pane = object({
  mark: string({ minLength: 1, maxLength: 20 }),
  width_mm: integer({ minimum: 1, maximum: 6000 }),
  count: integer({ minimum: 1, maximum: PIECES }),
});

step(
  'Pane.Cut',
  {
    description: 'Plans which panes are cut from which sheet, the widest pane first.',
    input: object({
      sheet_mm: integer({ minimum: 100, maximum: 6000 }),
      kerf_mm: integer({ minimum: 0, maximum: 10 }),
      panes: array(pane, { minItems: 1, maxItems: 60 }),
    }),
    output: object({
      sheets: array(object({ marks: array(string()), waste_mm: integer() })),
      used_percent: number(),
    }),
  },
  ({ sheet_mm, kerf_mm, panes }) => {
    const pieces = cutList(panes, sheet_mm);
    console.time('cutting plan');
    const sheets = firstFit(pieces, sheet_mm, kerf_mm);
    console.timeEnd('cutting plan');
    const glass = pieces.reduce((sum, piece) => sum + piece.width, 0);
    console.log(`${pieces.length} pieces on ${sheets.length} sheets`);
    return {
      sheets: sheets.map(({ marks, free }) => ({ marks, waste_mm: free })),
      used_percent: Math.round((1000 * glass) / (sheets.length * sheet_mm)) / 10,
    };
  },
);

/** Returns one entry for each piece of glass, the widest first, equal widths by their mark. */
function cutList(panes, sheet) {
  const pieces = [];
  for (const { mark, width_mm, count } of panes) {
    if (width_mm > sheet) {
      throw new Failure('INVALID_INPUT', `pane ${mark} is ${width_mm} mm wide, and a sheet has ${sheet} mm`);
    }
    if (pieces.length + count > PIECES) throw new Failure('INVALID_INPUT', `a plan has at most ${PIECES} pieces`);
    for (let n = 0; n < count; n++) pieces.push({ mark, width: width_mm });
  }
  return pieces.sort((a, b) => b.width - a.width || (a.mark < b.mark ? -1 : a.mark > b.mark ? 1 : 0));
}

/** Puts each piece on the first sheet that has room for it. Each cut takes the width of the saw. */
function firstFit(pieces, sheet, kerf) {
  const sheets = [];
  for (const { mark, width } of pieces) {
    let target = sheets.find(({ free }) => free >= width);
    if (target === undefined) {
      target = { marks: [], free: sheet };
      sheets.push(target);
    }
    target.marks.push(mark);
    target.free = Math.max(0, target.free - width - kerf);
  }
  return sheets;
}
