import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, string } = schema;

const MOST = 1000;
const WIDTH = 60;

// Cuts between characters, never inside of one.
function cut(text) {
  const characters = [...text];
  return characters.length <= WIDTH ? text : characters.slice(0, WIDTH - 1).join('') + '…';
}

function check(node, number) {
  if (node === null || typeof node !== 'object' || Array.isArray(node) || typeof node.title !== 'string') {
    throw new Failure('INVALID_INPUT', `the entry ${number} has no title`);
  }
  if (node.parts !== undefined && !Array.isArray(node.parts)) {
    throw new Failure('INVALID_INPUT', `the parts of the entry ${number} are no list`);
  }
}

step(
  'Archive.Outline',
  {
    description: 'Lists the folders of an archive as a numbered outline.',
    input: object({ archive: any() }),
    output: object({
      lines: array(object({ number: string(), title: string(), parts: integer() })),
      deepest: integer(),
    }),
  },
  ({ archive }) => {
    const lines = [];
    let deepest = 0;
    // Pending entries, the next one last. The depth of the tree uses no stack.
    const pending = [{ node: archive, number: '1', depth: 1 }];
    while (pending.length > 0) {
      const { node, number, depth } = pending.pop();
      check(node, number);
      if (lines.length === MOST) throw new Failure('INVALID_INPUT', `the archive has more than ${MOST} entries`);
      const parts = node.parts ?? [];
      lines.push({ number, title: cut(node.title.trim()), parts: parts.length });
      deepest = Math.max(deepest, depth);
      for (let i = parts.length - 1; i >= 0; i--) {
        pending.push({ node: parts[i], number: `${number}.${i + 1}`, depth: depth + 1 });
      }
    }
    return { lines, deepest };
  },
);
