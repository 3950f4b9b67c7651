import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const DOTS = [
  '1', '12', '14', '145', '15', '124', '1245', '125', '24', '245', '13', '123', '134',
  '1345', '135', '1234', '12345', '1235', '234', '2345', '136', '1236', '2456', '1346', '13456', '1356',
];
const MARKS = { ',': '2', ';': '23', ':': '25', '.': '256', '!': '235', '?': '236', "'": '3', '-': '36' };
const CAPITAL = cell('6');
const NUMBER = cell('3456');

/** Returns the character of the Unicode block of braille that has these dots. */
function cell(dots) {
  let bits = 0;
  for (const dot of dots) bits |= 1 << (Number(dot) - 1);
  return String.fromCodePoint(0x2800 + bits);
}

const CELLS = new Map([...LETTERS].map((letter, i) => [letter, cell(DOTS[i])]));
for (const [mark, dots] of Object.entries(MARKS)) CELLS.set(mark, cell(dots));

/** Returns the cells of one word. A run of digits has one number sign. */
function transcribed(word) {
  let cells = '';
  let inNumber = false;
  for (const character of word) {
    if (/[0-9]/.test(character)) {
      if (!inNumber) cells += NUMBER;
      inNumber = true;
      cells += CELLS.get(LETTERS[(Number(character) + 9) % 10]);
      continue;
    }
    inNumber = false;
    const lower = character.toLowerCase();
    if (!CELLS.has(lower)) throw new Failure('INVALID_INPUT', `there is no cell for ${character}`);
    cells += (lower === character ? '' : CAPITAL) + CELLS.get(lower);
  }
  return cells;
}

step(
  'Braille.Plate',
  {
    description: 'Sets a text in lines of braille for an embossed plate.',
    input: object({ text: string({ maxLength: 20000 }), width: integer({ minimum: 8, maximum: 60 }) }),
    output: object({ lines: array(string()), cells: integer() }),
  },
  ({ text, width }) => {
    console.time('plate');
    const lines = [];
    let line = '';
    for (const word of text.split(/\s+/).filter((part) => part !== '')) {
      const cells = transcribed(word);
      if (cells.length > width) throw new Failure('INVALID_INPUT', `${word} needs ${cells.length} cells, and a line has ${width}`);
      if (line !== '' && line.length + 1 + cells.length > width) {
        lines.push(line);
        line = '';
      }
      line += (line === '' ? '' : '\u2800') + cells;
    }
    if (line !== '') lines.push(line);
    console.timeEnd('plate');
    return { lines, cells: lines.reduce((sum, one) => sum + one.length, 0) };
  },
);
