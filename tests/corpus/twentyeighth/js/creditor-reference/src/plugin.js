// Composes the structured creditor reference (ISO 11649, "RF...") and the remittance line of an invoice.

import { config, Failure, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, optional, string, integer } = schema;

const BODY = /^[0-9A-Z]{1,21}$/;

/** Letters count as two digits: A is 10, Z is 35. */
function digits(text) {
  return [...text].map((sign) => (sign >= 'A' ? String(sign.charCodeAt(0) - 55) : sign)).join('');
}

/** Remainder of a number with many digits, piece by piece. */
function modulo97(number) {
  let rest = 0;
  for (const digit of number) rest = (rest * 10 + Number(digit)) % 97;
  return rest;
}

function reference(body) {
  const check = 98 - modulo97(digits(`${body}RF00`));
  return `RF${String(check).padStart(2, '0')}${body}`;
}

function grouped(text) {
  return text.match(/.{1,4}/g).join(' ');
}

function initials(name) {
  const parts = name.split(/[^\p{L}]+/u).filter((part) => part !== '');
  return parts.map((part) => [...part][0].toUpperCase()).join('').slice(0, 3);
}

tool(
  'Remittance.Compose',
  {
    description: 'Composes the creditor reference and the remittance line of an invoice.',
    input: object({
      customer: string({ minLength: 1, maxLength: 40 }),
      invoice: string({ minLength: 1, maxLength: 40 }),
      amount_cents: integer({ minimum: 1 }),
      clerk: optional(string({ maxLength: 60 })),
    }),
    output: object({ reference: string(), printed: string(), line: string() }),
    effects: ['read_only'],
    determinism: 'pure',
  },
  (args, context) => {
    const body = `${args.customer}${args.invoice}`.toUpperCase().replace(/[^0-9A-Z]/g, '');
    if (!BODY.test(body)) throw new Failure('INVALID_INPUT', 'customer and invoice need 1 to 21 letters and digits together');
    // The house can print its own name in front of the line.
    const house = config.get('house') ?? '';
    // A form that names no clerk is one that the asking person filled in.
    const clerk = initials(args.clerk ?? context.actor);
    const euros = `${Math.floor(args.amount_cents / 100)},${String(args.amount_cents % 100).padStart(2, '0')}`;
    const full = reference(body);
    const line = [house, `INV ${args.invoice}`, `EUR ${euros}`, clerk].filter((part) => part !== '').join(' / ');
    return { reference: full, printed: grouped(full), line };
  },
);
