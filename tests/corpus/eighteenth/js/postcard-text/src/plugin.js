import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const LINE = 32;
const LINES = 8;
const TRIES = 3;

// Breaks a word that is longer than a line into parts.
function parts(word) {
  const characters = [...word];
  const made = [];
  for (let at = 0; at < characters.length; at += LINE) made.push(characters.slice(at, at + LINE).join(''));
  return made;
}

function wrap(text) {
  const lines = [];
  let line = '';
  let width = 0;
  for (const part of text.split(/\s+/u).filter((word) => word !== '').flatMap(parts)) {
    const length = [...part].length;
    if (width > 0 && width + 1 + length > LINE) {
      lines.push(line);
      line = '';
      width = 0;
    }
    line = width === 0 ? part : `${line} ${part}`;
    width = width === 0 ? length : width + 1 + length;
  }
  if (width > 0) lines.push(line);
  return lines;
}

// Asks the address book, at most three times.
function address(person) {
  for (let tried = 1; ; tried += 1) {
    try {
      return tools.call('Address.Find', { person });
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'DEPENDENCY_UNAVAILABLE' || tried === TRIES) throw error;
    }
  }
}

step(
  'Postcard.Layout',
  {
    description: 'Lays out the text and the address of a postcard.',
    input: object({ person: string({ minLength: 1 }), text: string({ maxLength: 4000 }) }),
    output: object({ lines: array(string(), { maxItems: LINES }), left_out: integer(), address: array(string()) }),
    determinism: 'external',
  },
  (input) => {
    const lines = wrap(input.text);
    if (lines.length === 0) throw new Failure('INVALID_INPUT', 'the postcard has no text');
    const found = address(input.person);
    if (typeof found?.street !== 'string' || typeof found.town !== 'string') {
      throw new Failure('SCHEMA_VALIDATION_FAILED', `the address of ${input.person} has no street or town`);
    }
    return {
      lines: lines.slice(0, LINES),
      left_out: Math.max(0, lines.length - LINES),
      address: [input.person, found.street, found.town],
    };
  },
);
