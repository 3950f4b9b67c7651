import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, optional, string } = schema;

const line = object({
  article: string({ pattern: '^[A-Z0-9-]{1,20}$' }),
  count: integer({ minimum: 1, maximum: 10_000 }),
});

// The lines of a receipt are read through its head alone. The head is written last.
const headEntry = (key) => `receipt:${key}`;
const linesEntry = (key) => `lines:${key}`;

const booked = (key, pieces) =>
  new Output(
    { receipt: key, pieces },
    {
      receipt: { receipt: key },
      changes: [{ resourceType: 'receipt', resourceId: key, operation: 'create', version: String(pieces) }],
    },
  );

const sum = (lines) => lines.reduce((total, { count }) => total + count, 0);

tool(
  'Receipt.Book',
  {
    description: 'Books the goods of a delivery note into the stock book.',
    input: object({
      supplier: string({ minLength: 1, maxLength: 80 }),
      note: string({ pattern: '^[A-Za-z0-9/-]{1,30}$' }),
      lines: array(line, { minItems: 1, maxItems: 800 }),
    }),
    output: object({ receipt: string(), pieces: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const head = kv.text(headEntry(key));
      return head === undefined ? 'did-not-happen' : happened(booked(key, JSON.parse(head).pieces));
    },
    compensate: (args, result, key) => {
      if (!kv.delete(headEntry(key))) throw new Failure('POLICY_DENIED', 'the receipt is not in the book any more');
      if (!kv.delete(linesEntry(key))) {
        throw new Failure('POLICY_DENIED', 'the lines of the receipt were missing', { applied: 'unknown' });
      }
      return new Output(null, { changes: [{ resourceType: 'receipt', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ supplier, note, lines }, { externalKey }) => {
    const articles = new Set();
    for (const { article } of lines) {
      if (articles.has(article)) throw new Failure('INVALID_INPUT', `the article ${article} has two lines`);
      articles.add(article);
    }
    if (supplier.trim() === '') throw new Failure('INVALID_INPUT', 'the supplier has no name');
    const pieces = sum(lines);
    kv.set(linesEntry(externalKey), JSON.stringify(lines));
    try {
      kv.set(headEntry(externalKey), JSON.stringify({ supplier: supplier.trim(), note, pieces }));
    } catch (error) {
      const text = `the receipt may not be booked: ${error.message}`;
      throw new Failure('DEPENDENCY_UNAVAILABLE', text, { applied: 'unknown', cause: error });
    }
    return booked(externalKey, pieces);
  },
);

tool(
  'Receipt.Show',
  {
    description: 'Shows a booked receipt with its lines.',
    input: object({ receipt: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({
      found: boolean(),
      supplier: optional(string()),
      note: optional(string()),
      lines: optional(array(line)),
    }),
    effects: ['read_only'],
  },
  ({ receipt }) => {
    const head = kv.text(headEntry(receipt));
    if (head === undefined) return { found: false };
    const lines = kv.text(linesEntry(receipt));
    if (lines === undefined) throw new Failure('DEPENDENCY_UNAVAILABLE', 'the lines of the receipt are missing');
    const { supplier, note } = JSON.parse(head);
    return { found: true, supplier, note, lines: JSON.parse(lines) };
  },
);
