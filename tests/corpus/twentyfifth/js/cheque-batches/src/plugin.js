import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** The last digit of a cheque number makes the weighted sum a multiple of eleven. */
function isValid(number) {
  let sum = 0;
  for (let i = 0; i < number.length; i++) sum += Number(number[i]) * (number.length - i);
  return sum % 11 === 0;
}

step(
  'Cheques.Total',
  {
    description: 'Checks a batch of cheques and adds them up by bank.',
    input: object({
      branch: string({ pattern: '^[0-9]{3}$' }),
      cheques: array(
        object({
          number: string({ pattern: '^[0-9]{8}$' }),
          bank: string({ pattern: '^[A-Z]{4}$' }),
          cents: integer({ minimum: 1, maximum: 1000000000 }),
        }),
        { maxItems: 2000 },
      ),
    }),
    output: object({
      branch: string(),
      count: integer(),
      cents: integer(),
      banks: array(object({ bank: string(), count: integer(), cents: integer() })),
    }),
  },
  (input, context) => {
    const rejected = (message, cheque) =>
      new Failure('INVALID_INPUT', message, { detail: { branch: input.branch, cheque, case_number: context.correlationId } });
    const seen = new Set();
    const banks = new Map();
    for (const { number, bank, cents } of input.cheques) {
      if (!isValid(number)) throw rejected(`cheque ${number}: the check digit is wrong`, number);
      if (seen.has(number)) throw rejected(`cheque ${number} is in the batch twice`, number);
      seen.add(number);
      const sum = banks.get(bank) ?? { bank, count: 0, cents: 0 };
      banks.set(bank, { bank, count: sum.count + 1, cents: sum.cents + cents });
    }
    const sums = [...banks.values()].sort((a, b) => (a.bank < b.bank ? -1 : 1));
    return {
      branch: input.branch,
      count: input.cheques.length,
      cents: sums.reduce((total, { cents }) => total + cents, 0),
      banks: sums,
    };
  },
);
