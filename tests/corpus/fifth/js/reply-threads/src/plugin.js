// Indents the replies of a discussion: a reply is one level deeper than the comment that it answers. A discussion
// that is too long for indents is shown flat.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, nullable, object } = schema;

const comment = object({ id: integer(), parent: nullable(integer()) });

step(
  'Reply.Threads',
  {
    description: 'Indents the replies of a discussion.',
    input: object({ comments: array(comment, { maxItems: 5000 }) }),
    output: object({ nested: boolean(), indents: array(integer()) }),
  },
  ({ comments }) => {
    const parents = new Map();
    for (const { id, parent } of comments) {
      if (parents.has(id)) throw new Failure('INVALID_INPUT', `comment ${id} is there twice`);
      if (parent !== null && !parents.has(parent)) {
        throw new Failure('INVALID_INPUT', `comment ${id} answers ${parent}, which is not before it`);
      }
      parents.set(id, parent);
    }
    const indent = (id) => {
      const parent = parents.get(id);
      return parent === null ? 0 : 1 + indent(parent);
    };
    try {
      return { nested: true, indents: comments.map(({ id }) => indent(id)) };
    } catch {
      return { nested: false, indents: comments.map(() => 0) };
    }
  },
);
