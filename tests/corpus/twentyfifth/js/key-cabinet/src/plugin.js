import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const place = (key) => `loan/${key}`;

function find(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

const receiptOf = (key, loan) => ({ loan: key, hook: loan.hook, borrower: loan.borrower });

function lent(key, loan) {
  return new Output(
    { loan: key, hook: loan.hook, due: loan.due },
    {
      receipt: receiptOf(key, loan),
      changes: [{ resourceType: 'key loan', resourceId: key, operation: 'create', version: `${loan.hook}/${loan.due}` }],
    },
  );
}

tool(
  'Key.Lend',
  {
    description: 'Writes down that a key of the cabinet was lent.',
    input: object({
      hook: integer({ minimum: 1, maximum: 400 }),
      borrower: string({ minLength: 1, maxLength: 80 }),
      hours: integer({ minimum: 1, maximum: 72 }),
    }),
    output: object({ loan: string(), hook: integer(), due: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86400,
    reconcile: (args, key) => {
      const loan = find(key);
      return loan === undefined ? 'did-not-happen' : happened(lent(key, loan));
    },
    verify: ({ resourceId, version }) => {
      const loan = find(resourceId);
      if (loan === undefined) return 'the loan is missing';
      return `${loan.hook}/${loan.due}` === version || `the loan is ${loan.hook}/${loan.due}`;
    },
  },
  (args, context) => {
    // Master keys hang on the last ten hooks and stay in the house.
    if (args.hook > 390) throw new Failure('POLICY_DENIED', `hook ${args.hook} has a master key`);
    const key = context.externalKey;
    const open = find(key);
    if (open !== undefined) {
      return new Output({ loan: key, hook: open.hook, due: open.due }, { receipt: receiptOf(key, open) });
    }
    const due = Math.floor(Date.now() / 3600000) + args.hours;
    const loan = { hook: args.hook, borrower: args.borrower, due };
    kv.set(place(key), JSON.stringify(loan));
    return lent(key, loan);
  },
);
