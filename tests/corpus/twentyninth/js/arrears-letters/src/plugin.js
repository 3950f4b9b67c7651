// Letters to the members of a cooperative that are in arrears: one letter for each member and month.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

// After these failures the letter was certainly not posted, and a second round can succeed.
const AGAIN = ['RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'TRANSIENT_DB_LOCK'];

const money = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

function letter(month, { member, cents, language }) {
  const text =
    language === 'de'
      ? `Für den Monat ${month} sind CHF ${money(cents)} offen.`
      : `For the month ${month}, CHF ${money(cents)} are due.`;
  return {
    operator: 'Letter.Post',
    args: { member, text },
    // One letter in a month, whichever job posts it. The array keeps member and month apart.
    actionKey: JSON.stringify(['arrears', month, member]),
  };
}

step(
  'Arrears.Remind',
  {
    description: 'Posts the reminders of a month, and lists the letters without a confirmation.',
    input: object({
      month: string({ pattern: '^\\d{4}-(0[1-9]|1[0-2])$' }),
      debts: array(
        object({
          member: string({ minLength: 1, maxLength: 60 }),
          cents: integer({ minimum: 1, maximum: 1_000_000_000 }),
          language: oneOf('de', 'en'),
        }),
        { minItems: 1, maxItems: 300 },
      ),
    }),
    output: object({
      month: string(),
      posted: array(string()),
      unconfirmed: array(object({ member: string(), code: string() })),
      total_due: string(),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ month, debts }) => {
    const members = new Set();
    for (const { member } of debts) {
      if (members.has(member)) throw new Failure('INVALID_INPUT', `${member} is on the list twice`);
      members.add(member);
    }

    const done = new Set();
    const codes = new Map();
    let waiting = debts;
    // The host has made its own retries in each round. Two rounds are enough: who is left is listed.
    for (let round = 1; round <= 2 && waiting.length > 0; round++) {
      const answers = tools.callAll(waiting.map((debt) => letter(month, debt)));
      answers.forEach(({ failure }, place) => {
        const { member } = waiting[place];
        if (failure === undefined) {
          done.add(member);
          codes.delete(member);
          return;
        }
        if (!(failure instanceof Failure)) throw failure;
        codes.set(member, failure.code);
      });
      waiting = waiting.filter(({ member }) => AGAIN.includes(codes.get(member)));
    }

    const due = debts.reduce((sum, { cents }) => sum + cents, 0);
    console.log(`${month}: ${done.size} of ${debts.length} letters`);
    return {
      month,
      posted: debts.map(({ member }) => member).filter((member) => done.has(member)),
      unconfirmed: [...codes].map(([member, code]) => ({ member, code })).sort((a, b) => (a.member < b.member ? -1 : 1)),
      total_due: money(due),
    };
  },
);
