import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, string } = schema;

const place = (key) => `release/${key}`;

function queued(key, args) {
  return new Output(
    { release: key, channels: args.channels.length },
    { receipt: { release: key, title: args.title } },
  );
}

tool(
  'Press.Queue',
  {
    description: 'Puts a press release into the queue of the editor on duty.',
    input: object({
      title: string({ minLength: 1, maxLength: 120 }),
      text: string({ maxLength: 10000 }),
      channels: array({ enum: ['radio', 'paper', 'web', 'tv'] }, { minItems: 1, maxItems: 4, uniqueItems: true }),
    }),
    output: object({ release: string(), channels: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86400,
    reconcile: (args, key) => (kv.get(place(key)) === undefined ? 'did-not-happen' : happened(queued(key, args))),
  },
  (args, context) => {
    const key = context.externalKey;
    if (args.text.trim() === '') throw new Failure('INVALID_INPUT', 'the release has no text');
    // A repeated call keeps the place in the queue.
    if (context.triesBefore > 0) return queued(key, args);
    kv.set(place(key), JSON.stringify({ title: args.title, text: args.text, channels: args.channels }));
    return queued(key, args);
  },
);

tool(
  'Press.Status',
  {
    description: 'Looks for a press release in the queue.',
    input: object({ release: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ found: boolean(), title: string(), channels: array(string()) }),
  },
  (args) => {
    const text = kv.text(place(args.release));
    if (text === undefined) return { found: false, title: '', channels: [] };
    const release = JSON.parse(text);
    return { found: true, title: release.title, channels: release.channels };
  },
);
