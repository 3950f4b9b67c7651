import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const essay = object({ author: string(), mark: integer({ minimum: 0, maximum: 20 }), words: integer({ minimum: 0 }) });

// The better mark first, then the shorter essay. Fair among equals.
const before = (a, b) => b.mark - a.mark || a.words - b.words || (a.lot < b.lot ? -1 : 1);

step(
  'EssayQueue.Rank',
  {
    description: 'Ranks the essays of a competition.',
    input: object({ essays: array(essay), prizes: integer({ minimum: 1 }) }),
    output: object({ winners: array(string()), others: integer() }),
    determinism: 'pure',
  },
  ({ essays, prizes }) => {
    if (essays.length < prizes) throw new Failure('INVALID_INPUT', `${prizes} prizes for ${essays.length} essays`);
    const ranked = essays.map((one) => ({ ...one, lot: Math.random() })).sort(before);
    return { winners: ranked.slice(0, prizes).map((one) => one.author), others: ranked.length - prizes };
  },
);
