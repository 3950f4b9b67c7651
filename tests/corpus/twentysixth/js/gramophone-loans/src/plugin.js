import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const day = string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' });
const loanOf = (id) => `loan/${id}`;

/** Compares the entry of a loan with the version of a change. */
function verify({ resourceId, version }) {
  const found = kv.text(loanOf(resourceId));
  if (found === undefined) return `the loan ${resourceId} is missing`;
  return found === version || `the loan is now ${found}`;
}

tool(
  'Gramophone.Lend',
  {
    description: 'Lends a gramophone from the collection.',
    input: object({ model: string({ minLength: 1, maxLength: 120 }), borrower: string({ minLength: 1, maxLength: 120 }), until: day }),
    output: object({ loan: string(), until: string() }),
    effects: ['internal_write'],
    verify,
  },
  ({ model, borrower, until }, { externalKey }) => {
    const entry = JSON.stringify({ model, borrower, until });
    kv.set(loanOf(externalKey), entry);
    return new Output(
      { loan: externalKey, until },
      { changes: [{ resourceType: 'loan', resourceId: externalKey, operation: 'create', version: entry }] },
    );
  },
);

tool(
  'Gramophone.Extend',
  {
    description: 'Gives a loan of a gramophone another last day.',
    input: object({ loan: string({ minLength: 1, maxLength: 160 }), until: day }),
    output: object({ loan: string(), until: string() }),
    effects: ['internal_write'],
    verify,
  },
  ({ loan, until }) => {
    const found = kv.text(loanOf(loan));
    if (found === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no loan ${loan}`);
    const entry = JSON.stringify({ ...JSON.parse(found), until });
    kv.set(loanOf(loan), entry);
    return new Output(
      { loan, until },
      { changes: [{ resourceType: 'extension', resourceId: loan, operation: 'update', version: entry }] },
    );
  },
);
