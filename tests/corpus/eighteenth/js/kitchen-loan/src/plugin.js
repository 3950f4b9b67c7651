import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const DAY_MS = 24 * 60 * 60 * 1000;

// A loan is one entry, under the external key of its call.
const entryOf = (key) => `loan/${key}`;

function output(key, loan) {
  const version = `${loan.appliance}/${loan.due}`;
  return new Output(
    { loan: key, appliance: loan.appliance, due: loan.due },
    { changes: [{ resourceType: 'loan', resourceId: key, operation: 'create', version }] },
  );
}

function find(key) {
  const text = kv.text(entryOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Kitchen.Lend',
  {
    description: 'Records the loan of an appliance of the shared kitchen.',
    input: object({
      member: string({ minLength: 1, maxLength: 200 }),
      appliance: oneOf('mixer', 'juicer', 'waffle iron', 'dehydrator'),
      pickup: string({ pattern: '^20\\d\\d-[01]\\d-[0-3]\\dT[0-2]\\d:[0-5]\\d:00Z$' }),
      days: integer({ minimum: 1, maximum: 28 }),
    }),
    output: object({ loan: string(), appliance: string(), due: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * 24 * 60 * 60,
    verify: ({ resourceId, version }) => {
      const loan = find(resourceId);
      if (loan === undefined) return 'the loan is missing';
      const found = `${loan.appliance}/${loan.due}`;
      return found === version || `the loan is ${found}`;
    },
  },
  (args, context) => {
    const pickup = Date.parse(args.pickup);
    if (Number.isNaN(pickup)) throw new Failure('INVALID_INPUT', `${args.pickup} is no time`);
    // An appliance is handed out at a time that is still to come.
    if (pickup < Date.now()) throw new Failure('INVALID_INPUT', `the pickup time ${args.pickup} has passed`);
    const known = find(context.externalKey);
    if (known !== undefined) return output(context.externalKey, known);
    const loan = {
      member: args.member,
      appliance: args.appliance,
      due: new Date(pickup + args.days * DAY_MS).toISOString().slice(0, 10),
    };
    kv.set(entryOf(context.externalKey), JSON.stringify(loan));
    return output(context.externalKey, loan);
  },
);
