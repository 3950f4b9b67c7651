import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional } = schema;

/** Adds the entries to a balance, one after the other, and notes the lowest balance on the way. */
function book(entries, at, balance, lowest) {
  if (at === entries.length) return { balance, lowest };
  const after = balance + entries[at];
  if (!Number.isSafeInteger(after)) throw new Failure('INVALID_INPUT', 'the balance is too large');
  return book(entries, at + 1, after, Math.min(lowest, after));
}

step(
  'Account.Balance',
  {
    description: 'Computes the balance of an account and the lowest balance of the period.',
    input: object({ opening: optional(integer()), entries: array(integer()) }),
    output: object({ balance: integer(), lowest: integer(), entries: integer() }),
    determinism: 'pure',
  },
  ({ opening = 0, entries }) => {
    const { balance, lowest } = book(entries, 0, opening, opening);
    console.log(`${entries.length} entries`);
    return { balance, lowest, entries: entries.length };
  },
);
