import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const entryOf = (key) => `deposit/${key}`;
const change = (key, operation, version) => ({ resourceType: 'deposit', resourceId: entryOf(key), operation, version });

tool(
  'Hut.Deposit',
  {
    description: 'Books the deposit of a guest of a hut, with the time of the payment.',
    input: object({ hut: string({ minLength: 1, maxLength: 200 }), guest: string({ minLength: 1, maxLength: 200 }), cents: integer() }),
    output: object({ deposit: string(), cents: integer() }),
    effects: ['internal_write'],
    // Deposits stay in the map, also those that were returned.
    idempotentByKeySeconds: 30 * 24 * 60 * 60,
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the deposit is missing';
      return text === version || `the deposit is now ${text}`;
    },
    compensate: (args, result, key) => {
      const text = kv.text(entryOf(key));
      if (text === undefined) throw new Failure('POLICY_DENIED', 'the deposit is not there any more');
      const deposit = JSON.parse(text);
      const booked = JSON.stringify({ hut: args.hut, guest: args.guest, cents: args.cents, paid: deposit.paid });
      if (text !== booked) throw new Failure('POLICY_DENIED', 'the deposit was changed or returned');
      const returned = JSON.stringify({ ...deposit, returned: true });
      kv.set(entryOf(key), returned);
      return new Output(null, { changes: [change(key, 'return', returned)] });
    },
  },
  ({ hut, guest, cents }, { externalKey }) => {
    if (cents < 1 || cents > 100000) throw new Failure('INVALID_INPUT', `${cents} cents`);
    // An earlier try of this call has booked the deposit already. Its time stays.
    let text = kv.text(entryOf(externalKey));
    if (text === undefined) {
      text = JSON.stringify({ hut, guest, cents, paid: new Date().toISOString() });
      kv.set(entryOf(externalKey), text);
    }
    return new Output(
      { deposit: entryOf(externalKey), cents },
      { receipt: { deposit: entryOf(externalKey) }, changes: [change(externalKey, 'create', text)] },
    );
  },
);
