import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const item = object({
  customer: string({ pattern: '^C[0-9]{4}$' }),
  invoice: string({ pattern: '^R[0-9]{5}$' }),
  cents: integer({ minimum: 1, maximum: 100000000 }),
  days_late: integer({ minimum: 0, maximum: 2000 }),
});

/** First, second or last letter, by the age of the debt. */
function level(days) {
  if (days < 14) return undefined;
  if (days < 30) return 'reminder';
  return days < 60 ? 'second reminder' : 'final demand';
}

function amount(cents) {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

step(
  'Dunning.Run',
  {
    description: 'Sends the reminders of a month for the open items that are at least two weeks late.',
    input: object({
      month: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }),
      note: optional(string({ maxLength: 200 })),
      items: array(item, { maxItems: 200 }),
    }),
    output: object({
      sent: array(object({ invoice: string(), level: string(), letter: string() })),
      waiting: array(string()),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  (input) => {
    const seen = new Set();
    for (const { invoice } of input.items) {
      if (seen.has(invoice)) throw new Failure('INVALID_INPUT', `invoice ${invoice} is listed twice`);
      seen.add(invoice);
    }
    const sent = [];
    const waiting = [];
    for (const { customer, invoice, cents, days_late: days } of input.items) {
      const kind = level(days);
      if (kind === undefined) {
        waiting.push(invoice);
        continue;
      }
      // One letter of a kind in a month, also if the run is started again.
      const actionKey = JSON.stringify(['dunning', input.month, customer, kind]);
      const text = `${kind}: invoice ${invoice}, ${amount(cents)} EUR, ${days} days late` + (input.note ? `\n${input.note}` : '');
      const answer = tools.call('Letter.Send', { to: customer, subject: `Invoice ${invoice}`, text }, { actionKey });
      sent.push({ invoice, level: kind, letter: String(answer?.letter ?? '') });
    }
    return { sent, waiting };
  },
);
