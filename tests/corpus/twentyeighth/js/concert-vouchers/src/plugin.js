// Sends the vouchers of a concert season to the people who ordered them or get them as a gift.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const voucher = object({
  line: integer({ minimum: 1 }),
  recipient: string({ minLength: 3 }),
  value_eur: integer({ minimum: 5, maximum: 500 }),
});

function text(season, value) {
  return `A voucher for ${value} euros, valid for every concert of the season ${season}.`;
}

/** Refuses an order in which one line stands twice: the same voucher would be named twice. */
function checkLines(vouchers) {
  const seen = new Set();
  for (const { line } of vouchers) {
    if (seen.has(line)) throw new Failure('INVALID_INPUT', `line ${line} is in the order twice`);
    seen.add(line);
  }
}

step(
  'Vouchers.SendAll',
  {
    description: 'Sends each voucher of an order to its recipient.',
    input: object({ season: string({ minLength: 1 }), order: string({ minLength: 1 }), vouchers: array(voucher, { minItems: 1, maxItems: 200 }) }),
    output: object({ order: string(), sent: integer(), total_eur: integer(), failed: array(object({ line: integer(), code: string() })) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ season, order, vouchers }) => {
    checkLines(vouchers);
    const calls = vouchers.map(({ recipient, value_eur: value }) => ({
      operator: 'Mail.SendVoucher',
      args: { to: recipient, value_eur: value, text: text(season, value) },
      // A second job for the same order must not send anything again.
      actionKey: JSON.stringify(['voucher', season, order, recipient, value]),
    }));
    const answers = tools.callAll(calls);
    const failed = [];
    let total = 0;
    for (const [at, { failure }] of answers.entries()) {
      if (failure) failed.push({ line: vouchers[at].line, code: failure.code });
      else total += vouchers[at].value_eur;
    }
    if (failed.length > 0) events.emit('vouchers-failed', { order, lines: failed.map(({ line }) => line) });
    return { order, sent: vouchers.length - failed.length, total_eur: total, failed };
  },
);
