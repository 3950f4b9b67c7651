import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

// The boards in the bus stations show two entries of the map: a heading and a body. The displays read both every minute.
const heading = (board) => `heading/${board}`;
const body = (board) => `body/${board}`;

const ROW = /^\d{2}:\d{2} \S/;

function rowsOf(text) {
  return text.split('\n').filter((line) => ROW.test(line)).length;
}

/** Takes down the heading of a poster whose body did not fit, so that no half poster is shown. */
function takeDown(board, cause) {
  try {
    kv.delete(heading(board));
  } catch (error) {
    throw new Failure('DEPENDENCY_UNAVAILABLE', `half a poster is left on ${board}: ${error.message}`, { applied: 'unknown' });
  }
  throw new Failure('INVALID_INPUT', `the poster does not fit on ${board}: ${cause.message}`, { applied: 'no' });
}

tool(
  'Poster.Publish',
  {
    description: 'Puts a timetable on a board.',
    input: object({
      board: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      heading: string({ minLength: 1, maxLength: 200 }),
      body: string({ minLength: 1, maxLength: 60000 }),
    }),
    output: object({ board: string(), rows: integer() }),
    effects: ['internal_write'],
  },
  (args) => {
    const rows = rowsOf(args.body);
    if (rows === 0) throw new Failure('INVALID_INPUT', 'the body has no row such as "07:15 Line 4"');

    kv.set(heading(args.board), args.heading.trim());
    try {
      kv.set(body(args.board), args.body);
    } catch (error) {
      if (error instanceof Failure && error.applied === 'no') takeDown(args.board, error);
      throw error;
    }
    return new Output({ board: args.board, rows }, { receipt: { board: args.board, heading: args.heading.trim() } });
  },
);

tool(
  'Poster.Show',
  {
    description: 'Returns what a board shows.',
    input: object({ board: string({ pattern: '^[a-z0-9-]{1,40}$' }) }),
    output: object({ heading: string(), rows: integer() }),
  },
  ({ board }) => {
    const title = kv.text(heading(board));
    const text = kv.text(body(board));
    if (title === undefined || text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `${board} shows no poster`);
    return { heading: title, rows: rowsOf(text) };
  },
);
