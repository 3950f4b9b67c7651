import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

// A flat row of each entry, with a reference to the row above.
function rows(entries, parent, depth, into) {
  for (const { title, entries: below = [] } of entries) {
    const row = { id: crypto.randomUUID(), parent, title, depth };
    into.set(row.id, row);
    rows(below, row.id, depth + 1, into);
  }
  return into;
}

step(
  'Menu.Flatten',
  {
    description: 'Lists the entries of a menu by depth and title, with their paths.',
    input: object({ entries: array(object({ title: string(), entries: optional(array({ type: 'object' })) })) }),
    output: object({ lines: array(object({ path: string(), depth: integer() })) }),
    determinism: 'pure',
  },
  ({ entries }) => {
    const all = rows(entries, null, 0, new Map());
    if (all.size > 500) throw new Failure('INVALID_INPUT', `${all.size} entries, at most 500`);
    const path = ({ parent, title }) => (parent === null ? title : `${path(all.get(parent))} / ${title}`);
    const sorted = [...all.values()].sort((a, b) => {
      if (a.depth !== b.depth) return a.depth - b.depth;
      if (a.title !== b.title) return a.title < b.title ? -1 : 1;
      // Entries with the same title keep a fixed order by their ids.
      return a.id < b.id ? -1 : 1;
    });
    return { lines: sorted.map((row) => ({ path: path(row), depth: row.depth })) };
  },
);
