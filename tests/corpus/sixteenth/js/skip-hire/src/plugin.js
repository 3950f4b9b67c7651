// Orders a waste skip for a building site.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

step(
  'Skip.Book',
  {
    description: 'Orders a skip for a site. A later job for the same site, size and day gets the first order.',
    input: object({
      site: string({ minLength: 1, maxLength: 80 }),
      size_m3: oneOf(4, 6, 8),
      day: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
      limit_cents: integer({ minimum: 0 }),
    }),
    output: object({ order: string(), notice: string(), permit_by: string() }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ site, size_m3, day, limit_cents }) => {
    const date = midnight(day);
    if (date.getUTCDay() === 0) throw new Failure('INVALID_INPUT', `${day} is a Sunday, and no skips are brought then`);
    const quote = tools.call('Hire.Quote', { size_m3 });
    if (!Number.isSafeInteger(quote?.cents)) {
      throw new Failure('SCHEMA_VALIDATION_FAILED', 'the quote of the hire company has no price');
    }
    if (quote.cents > limit_cents) {
      throw new Failure('POLICY_DENIED', `a skip of ${size_m3} m3 costs ${quote.cents} cents, above ${limit_cents}`);
    }
    const order = tools.call(
      'Hire.Order',
      { site, size_m3, day, ordered_at: new Date().toISOString() },
      { actionKey: JSON.stringify(['skip', site, size_m3, day]) },
    );
    if (typeof order?.number !== 'string') {
      throw new Failure('SCHEMA_VALIDATION_FAILED', 'the answer of the hire company has no order number');
    }
    return {
      order: order.number,
      notice: `A skip of ${size_m3} m3 comes to ${site} on ${day}.`,
      permit_by: daysBefore(date, 3),
    };
  },
);

/** Returns the beginning of a day. Refuses days that no calendar has. */
function midnight(day) {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== day) {
    throw new Failure('INVALID_INPUT', `${day} is no day of the calendar`);
  }
  return date;
}

function daysBefore(date, days) {
  return new Date(date.getTime() - days * 86_400_000).toISOString().slice(0, 10);
}
