import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const BONUS_EVERY = 10;

const paid = (key, i) => `token/${key}/${i}`;
const free = (key, i) => `token/${key}/free-${i}`;

tool(
  'Token.Issue',
  {
    description: 'Issues tokens for the tasting room of a cidery, with a free one for every ten.',
    input: object({ guest: string({ minLength: 1, maxLength: 80 }), count: integer({ minimum: 1, maximum: 60 }) }),
    output: object({ batch: string(), tokens: integer() }),
    effects: ['internal_write'],
    compensate: ({ guest, count }, result, key) => {
      for (let i = 0; i < count; i++) {
        if (kv.text(paid(key, i)) !== guest) throw new Failure('POLICY_DENIED', `token ${i} was changed or removed`);
      }
      for (let i = 0; i < count; i++) {
        if (!kv.delete(paid(key, i))) throw new Failure('POLICY_DENIED', `token ${i} was removed`, { applied: 'unknown' });
      }
      return new Output(null, { changes: [{ resourceType: 'tokens', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ guest, count }, { externalKey }) => {
    const bonus = Math.floor(count / BONUS_EVERY);
    for (let i = 0; i < count; i++) kv.set(paid(externalKey, i), guest);
    for (let i = 0; i < bonus; i++) kv.set(free(externalKey, i), guest);
    return new Output(
      { batch: externalKey, tokens: count + bonus },
      { changes: [{ resourceType: 'tokens', resourceId: externalKey, operation: 'create', version: String(count + bonus) }] },
    );
  },
);
