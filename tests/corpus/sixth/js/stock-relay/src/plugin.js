// Reads the stock of an item in several shops at the same time. Shops without an answer are asked once more, in random
// order. The step follows from the answers, the clock and random numbers, and is declared as external.
import { Failure, events, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const ask = (shops, item) => tools.callAll(shops.map((shop) => ({ operator: 'Shop.Stock', args: { shop, item } })));

function shuffled(list) {
  const order = [...list];
  for (let at = order.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other], order[at]];
  }
  return order;
}

step(
  'Stock.Relay',
  {
    description: 'Adds up the stock of an item in several shops.',
    input: object({ item: string(), shops: array(string(), { maxItems: 20 }) }),
    output: object({ stock: integer(), silent: array(string()), at: string(), id: string() }),
    determinism: 'external',
  },
  ({ item, shops }, context) => {
    if (shops.length === 0) throw new Failure('INVALID_INPUT', 'no shop is named');
    let stock = 0;
    let waiting = shops;
    for (let round = 0; round < 2 && waiting.length > 0; round++) {
      const asked = round === 0 ? waiting : shuffled(waiting);
      const silent = [];
      ask(asked, item).forEach(({ ok, failure }, at) => {
        if (failure === undefined && Number.isSafeInteger(ok?.count)) stock += ok.count;
        else silent.push(asked[at]);
      });
      waiting = silent;
    }
    if (!Number.isSafeInteger(stock)) throw new Failure('DEPENDENCY_UNAVAILABLE', 'the stock is too large');
    events.emit('stock-read', { item, silent: waiting.length });
    console.log(`${item} for ${context.jobId}: ${stock}`);
    return { stock, silent: [...waiting].sort(), at: new Date().toISOString(), id: crypto.randomUUID() };
  },
);
