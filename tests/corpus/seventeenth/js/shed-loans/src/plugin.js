// The tool shed of a street: who has which tool, and until when.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const day = () => string({ pattern: '^20[0-9]{2}-[01][0-9]-[0-3][0-9]$' });
const loanId = () => string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' });

const place = (loan) => `loan/${loan}`;

/** Reads a loan. Returns undefined if there is none. */
function read(loan) {
  const text = kv.text(place(loan));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The output of an operator: the loan with its day of return, and what was done to it. */
function noted(type, loan, operation, { item, neighbour, due }) {
  return new Output(
    { loan, item, neighbour, due },
    { changes: [{ resourceType: type, resourceId: loan, operation, version: due }] },
  );
}

/** Checks that a loan still has the day of return that was recorded. */
function verify({ resourceId, version }) {
  const found = read(resourceId);
  if (found === undefined) return `there is no loan ${resourceId}`;
  return found.due === version || `the loan is due on ${found.due}`;
}

const output = object({ loan: string(), item: string(), neighbour: string(), due: string() });

tool(
  'Shed.Lend',
  {
    description: 'Notes that a neighbour takes a tool home until a day.',
    input: object({
      item: string({ minLength: 1, maxLength: 80 }),
      neighbour: string({ minLength: 1, maxLength: 80 }),
      due: day(),
    }),
    output,
    effects: ['internal_write'],
    verify,
  },
  ({ item, neighbour, due }, context) => {
    const loan = { item, neighbour, due };
    kv.set(place(context.externalKey), JSON.stringify(loan));
    return noted('loan', context.externalKey, 'create', loan);
  },
);

tool(
  'Shed.Extend',
  {
    description: 'Moves the day of return of a loan to a later day.',
    input: object({ loan: loanId(), due: day() }),
    output,
    effects: ['internal_write'],
    verify,
  },
  ({ loan, due }) => {
    const found = read(loan);
    if (found === undefined) throw new Failure('INVALID_INPUT', `there is no loan ${loan}`);
    if (due <= found.due) throw new Failure('INVALID_INPUT', `the loan is due on ${found.due} already`);
    const extended = { ...found, due };
    kv.set(place(loan), JSON.stringify(extended));
    return noted('extension', loan, 'update', extended);
  },
);

tool(
  'Shed.Show',
  {
    description: 'Shows a loan.',
    input: object({ loan: loanId() }),
    output,
    effects: ['read_only'],
  },
  ({ loan }) => {
    const found = read(loan);
    if (found === undefined) throw new Failure('INVALID_INPUT', `there is no loan ${loan}`);
    return { loan, ...found };
  },
);
