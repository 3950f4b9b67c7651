import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;
// The first month of the fiscal year.
const FIRST = 10;

step(
  'Invoice.Period',
  {
    description: 'Finds the fiscal year of an invoice.',
    input: object({ number: string(), year: integer(), month: optional(integer({ minimum: 1, maximum: 12 })) }),
    output: object({ number: string(), fiscal_year: string() }),
    determinism: 'pure',
  },
  (invoice) => {
    const month = invoice.month ?? new Date().getUTCMonth() + 1;
    const start = month >= FIRST ? invoice.year : invoice.year - 1;
    return { number: invoice.number, fiscal_year: `${start}/${String((start + 1) % 100).padStart(2, '0')}` };
  },
);
