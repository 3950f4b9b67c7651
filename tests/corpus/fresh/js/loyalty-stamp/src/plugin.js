import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

const FULL = 10;

tool(
  'Card.Stamp',
  {
    description: 'Adds a stamp to the card of a customer.',
    input: object({ card: string({ pattern: '^[a-z0-9-]{1,40}$' }) }),
    output: object({ stamps: integer(), full: boolean() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3600,
  },
  ({ card }, context) => {
    const name = `stamps:${card}`;
    let stamps = Number(kv.text(name) ?? '0');
    if (stamps >= FULL) throw new Failure('POLICY_DENIED', `card ${card} is full`);
    // A repeated call finds the stamp of the first try on the card.
    if (context.triesBefore === 0) {
      stamps += 1;
      kv.set(name, String(stamps));
    }
    const change = { resourceType: 'card', resourceId: card, operation: 'update', version: String(stamps) };
    return new Output({ stamps, full: stamps === FULL }, { changes: [change] });
  },
);
