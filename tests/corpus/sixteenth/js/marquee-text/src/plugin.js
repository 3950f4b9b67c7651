// Keeps the text on the light boards of a theatre.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, nullable, object, oneOf, string } = schema;

/** Longest text that a board can show, in characters of its lamps. */
const LAMPS = 72;

const board = oneOf('north', 'south', 'foyer');
const lines = array(string({ minLength: 1, maxLength: LAMPS }), { minItems: 1, maxItems: 3 });

const place = (name) => `board/${name}`;

/** Returns what a board shows, or undefined if it was never used. */
function shown(name) {
  const text = kv.text(place(name));
  return text === undefined ? undefined : JSON.parse(text);
}

function answer(name, { lines, by }) {
  return new Output(
    { board: name, lines },
    {
      receipt: { board: name, by },
      changes: [{ resourceType: 'board', resourceId: name, operation: 'update', version: by }],
    },
  );
}

tool(
  'Marquee.Show',
  {
    description: 'Shows a text on a board until another text is shown there.',
    input: object({ board, lines }),
    output: object({ board: string(), lines: array(string()) }),
    effects: ['internal_write'],
    // The boards accept a text again under its key for a day.
    idempotentByKeySeconds: 86_400,
  },
  (args, context) => {
    const wide = args.lines.find((line) => /[^\x20-\x7e]/.test(line));
    if (wide !== undefined) throw new Failure('INVALID_INPUT', `the lamps cannot show "${wide}"`);
    const before = shown(args.board);
    if (before?.by === context.externalKey) return answer(args.board, before);
    const entry = { lines: args.lines.map((line) => line.toUpperCase()), by: context.externalKey };
    kv.set(place(args.board), JSON.stringify(entry));
    console.log(`${args.board}: ${entry.lines.join(' / ')}`);
    return answer(args.board, entry);
  },
);

tool(
  'Marquee.Read',
  {
    description: 'Returns the text that a board shows.',
    input: object({ board }),
    output: object({ lines: nullable(array(string())) }),
    effects: ['read_only'],
  },
  (args) => ({ lines: shown(args.board)?.lines ?? null }),
);
