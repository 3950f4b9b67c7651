// Village chronicle: a volume has several pages, which are too long for one entry of the map. The title leaf is written
// last, and a reader always opens the title leaf first. Pages without a title leaf belong to no volume.

import { Failure, happened, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const leafOf = (ref) => `leaf/${ref}`;
const pageOf = (ref, number) => `page/${ref}/${number}`;

function leaf(ref) {
  const text = kv.text(leafOf(ref));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Runs a write of the call. Earlier pages may be in the map already, so the error must not say that nothing happened. */
function written(write) {
  try {
    write();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, error.message, { applied: 'unknown', cause: error });
    throw error;
  }
}

tool(
  'Volume.Bind',
  {
    description: 'Binds the pages of a year to a volume of the chronicle.',
    input: object({
      year: integer({ minimum: 1200, maximum: 2200 }),
      title: string({ minLength: 1, maxLength: 200 }),
      pages: array(string({ minLength: 1, maxLength: 4000 }), { minItems: 1, maxItems: 12 }),
    }),
    output: object({ volume: string(), pages: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const found = leaf(key);
      return found === undefined ? 'did-not-happen' : happened({ volume: key, pages: found.pages });
    },
  },
  (args, context) => {
    if (args.pages.some((text) => text.trim() === '')) throw new Failure('INVALID_INPUT', 'a page is blank');
    const ref = context.externalKey;
    for (const [at, text] of args.pages.entries()) written(() => kv.set(pageOf(ref, at + 1), text));
    const entry = { year: args.year, title: args.title, pages: args.pages.length, bound: new Date().toISOString() };
    written(() => kv.set(leafOf(ref), JSON.stringify(entry)));
    return { volume: ref, pages: entry.pages };
  },
);

tool(
  'Volume.Read',
  {
    description: 'Reads a page of a volume.',
    input: object({ volume: string({ minLength: 1, maxLength: 160 }), page: integer({ minimum: 1 }) }),
    output: object({ title: string(), year: integer(), text: string() }),
    effects: ['read_only'],
  },
  (args) => {
    const found = leaf(args.volume);
    if (found === undefined) throw new Failure('INVALID_INPUT', 'there is no such volume');
    if (args.page > found.pages) throw new Failure('INVALID_INPUT', `the volume has ${found.pages} pages`);
    const text = kv.text(pageOf(args.volume, args.page));
    if (text === undefined) throw new Failure('DEPENDENCY_UNAVAILABLE', 'the page is missing in the archive', { applied: 'no' });
    return { title: found.title, year: found.year, text };
  },
);
