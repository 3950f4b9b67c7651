import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

// A file has two entries, because an entry holds 64 KiB: its papers, and a cover. Every reader begins with the cover,
// which is written last: a file without a cover is not in the registry.
const cover = (id) => `cover/${id}`;
const papers = (id) => `papers/${id}`;
const ROOM = 64 * 1024;

const coverOf = ({ estate, clerk }) => JSON.stringify({ estate: estate.trim(), clerk });
const papersOf = ({ papers: list }) => JSON.stringify(list);
const bytes = (text) => new TextEncoder().encode(text).length;

const lodged = (args, id) =>
  new Output(
    { file: id, estate: args.estate.trim(), papers: args.papers.length },
    { receipt: { file: id }, changes: [{ resourceType: 'probate-file', resourceId: id, operation: 'lodge', version: coverOf(args) }] },
  );

function unchanged(args, id) {
  return kv.text(cover(id)) === coverOf(args) && kv.text(papers(id)) === papersOf(args);
}

tool(
  'Probate.Lodge',
  {
    description: 'Lodges the papers of an estate as a file of the registry.',
    input: object({
      estate: string({ minLength: 1, maxLength: 200 }),
      clerk: string({ minLength: 1, maxLength: 80 }),
      papers: array(object({ title: string({ maxLength: 200 }), text: string() }), { minItems: 1, maxItems: 200 }),
    }),
    output: object({ file: string(), estate: string(), papers: integer() }),
    effects: ['internal_write'],
    // Papers without a cover are no file, and the next try of the call replaces them.
    reconcile: (args, key) => (kv.text(cover(key)) === undefined ? 'did-not-happen' : happened(lodged(args, key))),
    verify: ({ resourceId, version }) => {
      const found = kv.text(cover(resourceId));
      if (found === undefined) return 'the file is not in the registry';
      return found === version || `the cover reads ${found}`;
    },
    compensate: (args, result, key) => {
      if (!unchanged(args, key)) throw new Failure('POLICY_DENIED', 'the file was changed or removed since it was lodged');
      if (!kv.delete(cover(key))) throw new Failure('POLICY_DENIED', 'the file was removed since it was lodged');
      try {
        if (kv.delete(papers(key))) return new Output(null);
      } catch (error) {
        throw new Failure('DEPENDENCY_UNAVAILABLE', `the cover is gone, the papers may be left: ${error.message}`, { applied: 'unknown' });
      }
      throw new Failure('POLICY_DENIED', 'the cover is gone, and so were the papers', { applied: 'unknown' });
    },
  },
  (args, context) => {
    if (args.estate.trim() === '') throw new Failure('INVALID_INPUT', 'the estate has no name');
    const sheets = papersOf(args);
    // Counted in bytes, as the map does, and before the first write.
    if (bytes(sheets) > ROOM) throw new Failure('INVALID_INPUT', `the papers have ${bytes(sheets)} bytes, and a file has room for ${ROOM}`);
    const id = context.externalKey;
    kv.set(papers(id), sheets);
    try {
      kv.set(cover(id), coverOf(args));
    } catch (error) {
      // The papers are there for each error of the cover.
      throw new Failure(error.code ?? 'DEPENDENCY_UNAVAILABLE', error.message, { applied: 'unknown' });
    }
    return lodged(args, id);
  },
);

tool(
  'Probate.Cover',
  {
    description: 'Reads the cover of a file, and the titles of its papers.',
    input: object({ file: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ estate: string(), clerk: string(), titles: array(string()) }),
  },
  ({ file }) => {
    const text = kv.text(cover(file));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the registry has no file ${file}`);
    const { estate, clerk } = JSON.parse(text);
    const sheets = kv.text(papers(file));
    if (sheets === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the papers of ${file} were removed`);
    return { estate, clerk, titles: JSON.parse(sheets).map(({ title }) => title) };
  },
);
