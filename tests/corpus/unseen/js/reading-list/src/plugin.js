import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

function stored(key) {
  const text = kv.text(`book/${key}`);
  return text === undefined ? undefined : JSON.parse(text);
}

function added(key, book) {
  const changes = [{ resourceType: 'book', resourceId: key, operation: 'create' }];
  return new Output({ id: key, added_at: book.added_at }, { changes });
}

tool(
  'Reading.Add',
  {
    description: 'Adds a book to the reading list.',
    input: object({ title: string() }),
    output: object({ id: string(), added_at: string() }),
    effects: ['internal_write'],
    reconcile: (_, key) => {
      const book = stored(key);
      return book === undefined ? 'did-not-happen' : happened(added(key, book));
    },
    compensate: (_, result) => {
      if (!kv.delete(`book/${result.id}`)) throw new Failure('POLICY_DENIED', 'the book is not on the list any more');
      return null;
    },
  },
  ({ title }, { externalKey: key }) => {
    const earlier = stored(key);
    if (earlier !== undefined) return added(key, earlier);
    const book = { title, added_at: new Date().toISOString() };
    kv.set(`book/${key}`, JSON.stringify(book));
    return added(key, book);
  },
);
