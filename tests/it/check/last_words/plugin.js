import { schema, tool } from '../latchwork/index.js';

const { object, string } = schema;

function brokenAnswer(text) {
  return text.missing.length;
}

tool(
  'Text.Check',
  { description: 'Checks a text.', input: object({ text: string() }), output: string(), effects: ['read_only'] },
  ({ text }) => String(brokenAnswer(text)),
);
