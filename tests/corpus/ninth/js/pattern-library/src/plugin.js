import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

// A pattern has two entries: its title, for the lists, and its instructions.
const titleOf = (id) => `title/${id}`;
const bodyOf = (id) => `body/${id}`;

function added(id, { title, instructions }) {
  return new Output(
    { id },
    {
      changes: [
        { resourceType: 'title', resourceId: titleOf(id), operation: 'create', version: title },
        { resourceType: 'body', resourceId: bodyOf(id), operation: 'create', version: String(instructions.length) },
      ],
    },
  );
}

tool(
  'Pattern.Add',
  {
    description: 'Adds a knitting pattern to the library.',
    input: object({ title: string({ minLength: 1, maxLength: 120 }), instructions: string({ minLength: 1 }) }),
    output: object({ id: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const title = kv.text(titleOf(key));
      const body = kv.text(bodyOf(key));
      if (title === undefined && body === undefined) return 'did-not-happen';
      return title === args.title && body === args.instructions ? happened(added(key, args)) : 'unknown';
    },
    verify: ({ resourceType, resourceId, version }) => {
      const found = kv.text(resourceId);
      if (found === undefined) return `the ${resourceType} is missing`;
      const now = resourceType === 'title' ? found : String(found.length);
      return now === version || `the ${resourceType} was changed`;
    },
  },
  (args, context) => {
    if (args.title.trim() === '') throw new Failure('INVALID_INPUT', 'the pattern has no title');
    kv.set(titleOf(context.externalKey), args.title);
    kv.set(bodyOf(context.externalKey), args.instructions);
    return added(context.externalKey, args);
  },
);

tool(
  'Pattern.Title',
  {
    description: 'Returns the title of a pattern.',
    input: object({ id: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ title: string() }),
  },
  ({ id }) => {
    const title = kv.text(titleOf(id));
    if (title === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no pattern ${id}`);
    return { title };
  },
);
