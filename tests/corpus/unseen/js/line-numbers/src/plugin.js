import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

let last = 0;

function numbered(line) {
  last += 1;
  return `${String(last).padStart(4)}  ${line}`;
}

step(
  'Script.Number',
  {
    description: 'Numbers the lines of a script.',
    input: object({ lines: array(string()) }),
    output: object({ text: string() }),
    determinism: 'pure',
  },
  ({ lines }) => ({ text: lines.map(numbered).join('\n') }),
);
