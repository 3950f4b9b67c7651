// Books the transfers of passengers with a wheelchair at a station: by the station's own staff, else by a taxi company.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, array, oneOf } = schema;

const transfer = object({
  passenger: string({ minLength: 1 }),
  train: string({ minLength: 1 }),
  date: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
});

/** The effect: this passenger is met at this train on this day. Who meets the passenger is no part of it. */
function actionKey({ passenger, train, date }) {
  return JSON.stringify(['transfer', date, train, passenger]);
}

function checkTransfers(transfers) {
  const keys = new Map();
  for (const one of transfers) {
    const key = actionKey(one);
    if (keys.has(key)) throw new Failure('INVALID_INPUT', `${one.passenger} stands in the list twice for ${one.train}`);
    keys.set(key, one);
  }
}

/** True if an administrator gave a call up whose effect is unknown: the staff may come, so no taxi is asked. */
function isLost(failure) {
  return JSON.stringify(failure.detail ?? null).includes('INVOCATION_LOST');
}

/** Books one transfer. After any other failure the call certainly booked nothing, and the taxi is asked once. */
function book(one) {
  const more = { actionKey: actionKey(one) };
  try {
    const { reference } = tools.call('Station.BookStaff', one, more);
    return { passenger: one.passenger, by: 'staff', reference };
  } catch (failure) {
    if (!(failure instanceof Failure) || failure.code === 'POLICY_DENIED' || isLost(failure)) throw failure;
    console.warn(`no staff for ${one.passenger}: ${failure.code}`);
  }
  const { reference } = tools.call('Taxi.Book', { ...one, ramp: true }, more);
  return { passenger: one.passenger, by: 'taxi', reference };
}

step(
  'Transfers.Book',
  {
    description: 'Books a transfer for each passenger with a wheelchair.',
    input: object({ station: string({ minLength: 1 }), transfers: array(transfer, { maxItems: 50 }) }),
    output: object({
      station: string(),
      printed_at: string(),
      booked: array(object({ passenger: string(), by: oneOf('staff', 'taxi'), reference: string() })),
    }),
    effects: ['internal_write', 'external_write'],
    determinism: 'external',
  },
  ({ station, transfers }) => {
    checkTransfers(transfers);
    const booked = transfers.map(book);
    events.emit('transfers-booked', { station, count: booked.length });
    // After the last answer: the time of the list is not before that of its bookings.
    return { station, printed_at: new Date().toISOString(), booked };
  },
);
