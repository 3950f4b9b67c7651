import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, object, string } = schema;

const DATE = '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$';
const KEY = '^[A-Za-z0-9_:/~-]{1,128}$';

const loanEntry = (key) => `loan:${key}`;
const notesEntry = (key) => `notes:${key}`;

function loanOf(key) {
  const text = kv.text(loanEntry(key));
  return text === undefined ? undefined : JSON.parse(text);
}

const recorded = (key, due) =>
  new Output(
    { loan: key, due },
    {
      receipt: { loan: key },
      changes: [{ resourceType: 'loan', resourceId: key, operation: 'create', version: due }],
    },
  );

tool(
  'Loan.Record',
  {
    description: 'Records that a costume is lent, with notes about its state.',
    input: object({
      costume: string({ pattern: '^[A-Z]{2}[0-9]{4}$' }),
      person: string({ minLength: 1, maxLength: 80 }),
      from: string({ pattern: DATE }),
      due: string({ pattern: DATE }),
      notes: string({ maxLength: 40_000 }),
    }),
    output: object({ loan: string(), due: string() }),
    effects: ['internal_write'],
    reconcile: ({ due }, key) => {
      if (loanOf(key) === undefined) return 'did-not-happen';
      // The loan is there and the notes are not: a part of the call happened.
      if (kv.get(notesEntry(key)) === undefined) return 'unknown';
      return happened(recorded(key, due));
    },
  },
  ({ costume, person, from, due, notes }, { externalKey }) => {
    if (person.trim() === '') throw new Failure('INVALID_INPUT', 'the name of the borrower is empty');
    if (due < from) throw new Failure('INVALID_INPUT', `the costume is due on ${due}, before it is lent`);
    kv.set(loanEntry(externalKey), JSON.stringify({ costume, person: person.trim(), from, due }));
    kv.set(notesEntry(externalKey), notes);
    return recorded(externalKey, due);
  },
);

tool(
  'Loan.Show',
  {
    description: 'Shows a recorded loan.',
    input: object({ loan: string({ pattern: KEY }) }),
    output: object({
      found: boolean(),
      loan: schema.optional(object({ costume: string(), person: string(), from: string(), due: string() })),
      notes: schema.optional(string()),
    }),
    effects: ['read_only'],
  },
  ({ loan }) => {
    const entry = loanOf(loan);
    if (entry === undefined) return { found: false };
    return { found: true, loan: entry, notes: kv.text(notesEntry(loan)) ?? '' };
  },
);
