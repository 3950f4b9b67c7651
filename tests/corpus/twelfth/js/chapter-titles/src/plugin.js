// The working titles of the chapters of a book.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, nullable, object, string } = schema;

const book = string({ pattern: '^[a-z0-9-]{1,60}$' });
const chapter = integer({ minimum: 1, maximum: 200 });

const place = (args) => `title/${args.book}/${args.chapter}`;

const titled = (args) =>
  new Output(
    { book: args.book, chapter: args.chapter, title: args.title.trim() },
    { changes: [{ resourceType: 'chapter-title', resourceId: place(args), operation: 'update', version: args.title.trim() }] },
  );

tool(
  'Chapter.Title',
  {
    description: 'Sets the working title of a chapter.',
    input: object({ book, chapter, title: string({ maxLength: 300 }) }),
    output: object({ book: string(), chapter: integer(), title: string() }),
    effects: ['internal_write'],
    // Called after a crash: finds out whether the title was set.
    reconcile: (args) => (kv.get(place(args)) === undefined ? 'did-not-happen' : happened(titled(args))),
  },
  (args) => {
    if (args.title.trim() === '') throw new Failure('INVALID_INPUT', 'a title has at least one letter');
    kv.set(place(args), args.title.trim());
    return titled(args);
  },
);

tool(
  'Chapter.Read',
  {
    description: 'Reads the working title of a chapter.',
    input: object({ book, chapter }),
    output: object({ title: nullable(string()) }),
  },
  (args) => ({ title: kv.text(place(args)) ?? null }),
);
