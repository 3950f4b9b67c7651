import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

function stock(wine) {
  const answer = tools.call('Cellar.Count', { wine });
  if (!Number.isSafeInteger(answer?.bottles) || answer.bottles < 0) {
    throw new Failure('DEPENDENCY_UNAVAILABLE', `the cellar gave no count of ${wine}`);
  }
  return answer.bottles;
}

step(
  'Cellar.Replenish',
  {
    description: 'Counts the wines of a list and orders those that run low.',
    input: object({
      week: string({ pattern: '^20[0-9]{2}-W[0-5][0-9]$' }),
      wines: array(
        object({
          wine: string({ pattern: '^[a-z-]{1,40}$' }),
          keep: integer({ minimum: 1, maximum: 5000 }),
        }),
        { maxItems: 100 },
      ),
    }),
    output: object({
      ordered: array(object({ wine: string(), bottles: integer(), order: string() })),
      sold_out: array(string()),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  (input) => {
    const names = new Set(input.wines.map(({ wine }) => wine));
    if (names.size < input.wines.length) throw new Failure('INVALID_INPUT', 'a wine is listed twice');
    const ordered = [];
    const soldOut = [];
    for (const { wine, keep } of input.wines) {
      const bottles = stock(wine);
      if (bottles * 2 >= keep) continue;
      // Merchants deliver cases of six.
      const wanted = Math.ceil((keep - bottles) / 6) * 6;
      const answer = tools.call(
        'Merchant.Order',
        { wine, bottles: wanted },
        { actionKey: JSON.stringify(['cellar', input.week, wine]) },
      );
      ordered.push({ wine, bottles: wanted, order: String(answer?.order ?? '') });
      if (bottles === 0) soldOut.push(wine);
    }
    if (soldOut.length > 0) {
      const text = `Sold out in ${input.week}: ${soldOut.join(', ')}`;
      tools.call('Staff.Message', { to: 'sommelier', text }, { actionKey: JSON.stringify(['sold out', input.week, soldOut]) });
    }
    return { ordered, sold_out: soldOut };
  },
);
