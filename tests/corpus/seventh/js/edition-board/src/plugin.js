import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const place = (key) => `notice/${key}`;

function load(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function posted(key, { title, edition }) {
  return new Output(
    { notice: key, title, edition },
    {
      receipt: { notice: key, edition },
      changes: [{ resourceType: 'notice', resourceId: key, operation: 'create', version: String(edition) }],
    },
  );
}

tool(
  'Notice.Post',
  {
    description: 'Posts an edition of a safety notice on the board of the plant.',
    input: object({
      title: string({ minLength: 1, maxLength: 200 }),
      edition: integer({ minimum: 1, maximum: 9999 }),
      text: string({ maxLength: 8000 }),
    }),
    output: object({ notice: string(), title: string(), edition: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const notice = load(key);
      return notice === undefined ? 'did-not-happen' : happened(posted(key, notice));
    },
    verify: ({ resourceId, version }) => {
      const notice = load(resourceId);
      if (notice === undefined) return 'the notice was taken off the board';
      return notice.edition === version || `the board has edition ${notice.edition}`;
    },
  },
  ({ title, edition, text }, { externalKey }) => {
    if (title.trim() === '') throw new Failure('INVALID_INPUT', 'a notice needs a title');
    const notice = { title: title.trim(), edition, text };
    kv.set(place(externalKey), JSON.stringify(notice));
    return posted(externalKey, notice);
  },
);
