// Issues vouchers for the halls of a museum, as long as the sale is open.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

/** Time for which a voucher can be asked for again under its key: two days. */
const WINDOW_SECONDS = 172_800;

const place = (key) => `voucher/${key}`;
const change = (key, operation, version) => ({ resourceType: 'voucher', resourceId: key, operation, version });

/** Returns a voucher, or undefined if there is none. */
function voucherAt(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Returns the voucher of a call that begins. The host tries again soon if the map does not answer. */
function atStart(key) {
  try {
    return voucherAt(key);
  } catch (error) {
    if (error instanceof Failure && error.code === 'DEPENDENCY_UNAVAILABLE') {
      throw new Failure('TRANSIENT_DB_LOCK', `the vouchers cannot be read: ${error.message}`, { retryAfterMs: 2000 });
    }
    throw error;
  }
}

function issued(key, { number, hall, visitor }) {
  return new Output(
    { voucher: key, number, text: `Voucher ${number}: ${hall}, for ${visitor}` },
    { receipt: { number }, changes: [change(key, 'create', number)] },
  );
}

tool(
  'Voucher.Issue',
  {
    description: 'Issues a voucher for a hall until the sale closes.',
    input: object({
      visitor: string({ minLength: 1, maxLength: 100 }),
      hall: oneOf('antiquities', 'instruments', 'planetarium'),
      sale_closes: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}Z$' }),
    }),
    output: object({ voucher: string(), number: string(), text: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WINDOW_SECONDS,
    reconcile: (args, key) => {
      const found = voucherAt(key);
      return found === undefined ? 'did-not-happen' : happened(issued(key, found));
    },
    verify: ({ resourceId, version }) => {
      const found = voucherAt(resourceId);
      if (found === undefined) return 'the voucher was removed';
      return found.number === version || `the voucher has the number ${found.number}`;
    },
    compensate: (args, result, key) => {
      if (voucherAt(key)?.number !== result.number || !kv.delete(place(key))) {
        throw new Failure('POLICY_DENIED', `voucher ${result.number} is no longer there`);
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ visitor, hall, sale_closes }, context) => {
    const closes = Date.parse(sale_closes);
    if (Number.isNaN(closes)) throw new Failure('INVALID_INPUT', `${sale_closes} is no time`);
    const key = context.externalKey;
    const found = atStart(key);
    if (found !== undefined) return issued(key, found);
    if (Date.now() > closes) throw new Failure('POLICY_DENIED', `the sale closed at ${sale_closes}`);
    const voucher = { number: crypto.randomUUID().slice(0, 13), hall, visitor, at: new Date().toISOString() };
    kv.set(place(key), JSON.stringify(voucher));
    return issued(key, voucher);
  },
);
