// Keeps the lendings of a small library.

import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const WEEK = 7 * 24 * 3600;

const entry = (key) => `lending/${key}`;

/** Returns the lending of a key, or undefined. */
function read(key) {
  const kept = kv.text(entry(key));
  return kept === undefined ? undefined : JSON.parse(kept);
}

tool(
  'Lending.Open',
  {
    description: 'Notes that a reader takes a book.',
    input: object({ reader: string({ pattern: '^[0-9]{3,10}$' }), book: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ lending: string(), since: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
  },
  ({ reader, book }, context) => {
    if (book.trim() === '') throw new Failure('INVALID_INPUT', 'a lending needs the title of a book');
    const kept = read(context.externalKey);
    // A lending keeps its day, and stays closed once the book is back.
    if (kept !== undefined) return { lending: context.externalKey, since: kept.since };
    const since = new Date().toISOString().slice(0, 10);
    kv.set(entry(context.externalKey), JSON.stringify({ reader, book, since, state: 'open' }));
    return { lending: context.externalKey, since };
  },
);

tool(
  'Lending.Close',
  {
    description: 'Notes that the book of a lending is back.',
    input: object({ lending: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ lending: string(), state: oneOf('closed') }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,
  },
  ({ lending }) => {
    const kept = read(lending);
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no lending ${lending}`);
    // The entry stays, so that the history of the book is complete.
    if (kept.state !== 'closed') kv.set(entry(lending), JSON.stringify({ ...kept, state: 'closed' }));
    return { lending, state: 'closed' };
  },
);

tool(
  'Lending.Show',
  {
    description: 'Returns a lending.',
    input: object({ lending: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ reader: string(), book: string(), since: string(), state: oneOf('open', 'closed') }),
    effects: ['read_only'],
  },
  ({ lending }) => {
    const kept = read(lending);
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no lending ${lending}`);
    return kept;
  },
);
