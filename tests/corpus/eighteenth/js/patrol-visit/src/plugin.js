import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const entryOf = (key) => `visit/${key}`;

function find(key) {
  const text = kv.text(entryOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function output(key, visit) {
  return new Output(
    { visit: key, at: visit.at },
    {
      receipt: { visit: key, at: visit.at },
      changes: [{ resourceType: 'visit', resourceId: key, operation: 'create', version: visit.at }],
    },
  );
}

tool(
  'Patrol.Visit',
  {
    description: 'Records that a ranger visited a post, with the time of the record.',
    input: object({
      post: string({ minLength: 1, maxLength: 100 }),
      ranger: string({ minLength: 1, maxLength: 100 }),
      state: oneOf('in order', 'damaged', 'missing'),
    }),
    output: object({ visit: string(), at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 14 * 24 * 60 * 60,
    reconcile: (args, key) => {
      const visit = find(key);
      return visit === undefined ? 'did-not-happen' : happened(output(key, visit));
    },
    verify: ({ resourceId, version }) => {
      const visit = find(resourceId);
      if (visit === undefined) return 'the visit is missing';
      return visit.at === version || `the visit was recorded at ${visit.at}`;
    },
    // Takes the record back.
    compensate: (args, result, key) => {
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the visit is missing');
      return new Output(null, { changes: [{ resourceType: 'visit', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, context) => {
    if (args.state === 'missing' && args.post.startsWith('mobile ')) {
      throw new Failure('INVALID_INPUT', 'a mobile post has no place where it could be missing');
    }
    // A visit keeps the time of its first record.
    const known = find(context.externalKey);
    if (known !== undefined) return output(context.externalKey, known);
    const visit = { post: args.post, ranger: args.ranger, state: args.state, at: new Date().toISOString() };
    kv.set(entryOf(context.externalKey), JSON.stringify(visit));
    return output(context.externalKey, visit);
  },
);
