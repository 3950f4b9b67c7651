// Loans of a village library. Each loan is one entry of the map, under the key of its call.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const DAY = 24 * 60 * 60 * 1000;
const entryOf = (loan) => `loan/${loan}`;
const dueAfter = (days) => new Date(Date.now() + days * DAY).toISOString();

const opened = (loan, due) => new Output({ loan, due }, { changes: [{ resourceType: 'loan', resourceId: loan, operation: 'create' }] });

tool(
  'Loan.Open',
  {
    description: 'Lends a book to a member for some days.',
    input: object({
      member: string({ minLength: 1, maxLength: 60 }),
      title: string({ minLength: 1, maxLength: 300 }),
      days: integer({ minimum: 1, maximum: 90 }),
    }),
    output: object({ loan: string(), due: string() }),
    effects: ['internal_write'],
    reconcile: ({ days }, key) => (kv.get(entryOf(key)) === undefined ? 'did-not-happen' : happened(opened(key, dueAfter(days)))),
  },
  ({ member, title, days }, { externalKey }) => {
    if (title.trim() === '') throw new Failure('INVALID_INPUT', 'the title is blank');
    const due = dueAfter(days);
    kv.set(entryOf(externalKey), JSON.stringify({ member, title, due }));
    return opened(externalKey, due);
  },
);

tool(
  'Loan.Read',
  {
    description: 'Reads a loan.',
    input: object({ loan: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ member: string(), title: string(), due: string() }),
  },
  ({ loan }) => {
    const text = kv.text(entryOf(loan));
    if (text === undefined) throw new Failure('INVALID_INPUT', `there is no loan ${loan}`);
    const { member, title, due } = JSON.parse(text);
    return { member, title, due };
  },
);
