// Adds up a basket. The prices come from the shop, and a voucher takes a part of the sum away.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

step(
  'Basket.Total',
  {
    description: 'Adds up a basket.',
    input: object({ items: array(string()), voucher: optional(string()) }),
    output: object({ sum: integer({ minimum: 0 }), saved: integer({ minimum: 0 }) }),
    determinism: 'external',
  },
  ({ items, voucher }) => {
    if (items.length === 0 || items.length > 100) throw new Failure('INVALID_INPUT', '1 to 100 items, please');
    const answers = tools.callAll(items.map((item) => ({ operator: 'Shop.Price', args: { item } })));
    let sum = 0;
    for (const { ok, failure } of answers) {
      if (failure) throw failure;
      const valid = Number.isInteger(ok.cents) && ok.cents >= 0;
      if (!valid) throw new Failure('DEPENDENCY_UNAVAILABLE', 'a price is not valid');
      sum += ok.cents;
    }
    if (voucher === undefined) return { sum, saved: 0 };
    const { cents, percent } = tools.call('Shop.Voucher', { voucher });
    const saved = Number.isInteger(cents) ? cents : Math.round((sum * percent) / 100);
    return { sum: sum - saved, saved };
  },
);
