import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// The check digit of GS1: weights 3 and 1 from the right.
function checkDigit(digits) {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const weight = (digits.length - i) % 2 === 1 ? 3 : 1;
    sum += weight * Number(digits[i]);
  }
  return (10 - (sum % 10)) % 10;
}

// Eighteen digits: one extension digit, company, serial number, check digit.
function code(extension, company, serial) {
  const room = 16 - company.length;
  const body = `${extension}${company}${String(serial).padStart(room, '0')}`;
  return `${body}${checkDigit(body)}`;
}

function refusal(message, crates, context) {
  return new Failure('INVALID_INPUT', message, {
    detail: { crates, see: `support ticket of ${context.correlationId}` },
  });
}

step(
  'Crates.Label',
  {
    description: 'Gives the crates of a delivery their shipping codes with check digits.',
    input: object({
      company: string({ pattern: '^[0-9]{7,9}$' }),
      extension: integer({ minimum: 0, maximum: 9 }),
      first: integer({ minimum: 0, maximum: 999_999_999 }),
      crates: array(object({ name: string({ minLength: 1, maxLength: 80 }), kg: schema.number({ minimum: 0 }) }), {
        minItems: 1,
        maxItems: 400,
      }),
    }),
    output: object({
      labels: array(object({ name: string(), code: string() })),
      next: integer(),
    }),
  },
  ({ company, extension, first, crates }, context) => {
    const largest = 10 ** (16 - company.length) - 1;
    if (first + crates.length - 1 > largest) {
      throw refusal(`the serial numbers of ${company} end at ${largest}`, crates.length, context);
    }
    const heavy = crates.filter(({ kg }) => kg > 1000);
    if (heavy.length > 0) {
      throw refusal(`${heavy[0].name} is heavier than 1000 kg`, heavy.length, context);
    }
    const labels = crates.map(({ name }, i) => ({ name, code: code(extension, company, first + i) }));
    return { labels, next: first + crates.length };
  },
);
