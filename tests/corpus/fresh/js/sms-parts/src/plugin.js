import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// A message in UCS-2 has 70 units, or 67 in each of several parts.
const WHOLE = 70;
const PART = 67;

function split(text) {
  if (text.length <= WHOLE) return [text];
  const parts = [];
  for (let at = 0; at < text.length; at += PART) parts.push(text.slice(at, at + PART));
  return parts;
}

step(
  'Sms.Split',
  {
    description: 'Splits a text into the parts of a short message.',
    input: object({ text: string(), parts: integer({ minimum: 1, maximum: 10 }) }),
    output: object({ parts: array(string()), units: integer() }),
    determinism: 'pure',
  },
  ({ text, parts: most }) => {
    const trimmed = text.trim();
    if (trimmed === '') throw new Failure('INVALID_INPUT', 'the text is empty');
    const parts = split(trimmed);
    if (parts.length > most) throw new Failure('INVALID_INPUT', `${parts.length} parts, at most ${most}`);
    return { parts, units: trimmed.length };
  },
);
