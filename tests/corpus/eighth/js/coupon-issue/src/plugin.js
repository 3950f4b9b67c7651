import { kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

const issued = (key, code, percent) =>
  new Output({ code, percent }, { changes: [{ resourceType: 'coupon', resourceId: key, operation: 'create', version: `${code};${percent}` }] });

tool(
  'Coupon.Issue',
  {
    description: 'Issues a coupon with a discount. A coupon that was issued for the call keeps its code.',
    input: object({ customer: string({ minLength: 1 }), percent: integer({ minimum: 1, maximum: 50 }) }),
    output: object({ code: string(), percent: integer({ minimum: 1, maximum: 50 }) }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86_400,
  },
  ({ customer, percent }, { externalKey }) => {
    const entry = kv.text(externalKey);
    if (entry !== undefined) {
      const [code, discount] = entry.split(';');
      return issued(externalKey, code, discount);
    }
    const code = `${customer.slice(0, 1).toUpperCase()}-${crypto.randomUUID().slice(0, 8)}`.replaceAll(';', '');
    kv.set(externalKey, `${code};${percent}`);
    return issued(externalKey, code, percent);
  },
);
