// The guest book of a mountain hut.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const DAY = 24 * 60 * 60;

tool(
  'GuestBook.Sign',
  {
    description: 'Keeps the entry of a guest in the book of the hut.',
    input: object({ guest: string({ minLength: 1, maxLength: 100 }), quote: string({ maxLength: 2000 }), nights: integer({ minimum: 1, maximum: 60 }) }),
    output: object({ entry: string(), line: string() }),
    effects: ['internal_write'],
    // The entry has the name of the call, so a repetition finds it.
    idempotentByKeySeconds: DAY,
  },
  ({ guest, quote, nights }, { externalKey }) => {
    const name = `guest#${externalKey}`;
    const known = kv.text(name);
    if (known !== undefined) return JSON.parse(known);

    const who = guest.trim();
    if (who === '') throw new Failure('INVALID_INPUT', 'the guest has no name');
    const stay = nights === 1 ? 'one night' : `${nights} nights`;
    const said = quote.trim() === '' ? '' : `: "${quote.trim()}"`;
    const signed = { entry: externalKey, line: `${who}, ${stay}${said}` };
    kv.set(name, JSON.stringify(signed));
    return new Output(signed, {
      receipt: { entry: externalKey },
      changes: [{ resourceType: 'guest-entry', resourceId: externalKey, operation: 'create' }],
    });
  },
);
