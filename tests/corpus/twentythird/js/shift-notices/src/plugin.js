import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, nullable, object, oneOf, optional, string } = schema;

const DESKS = ['reception', 'gatehouse', 'dispatch', 'ward-north', 'ward-south'];

/** A desk has one notice at a time, in one entry. */
const entryOf = (desk) => `notice:${desk}`;

function read(desk) {
  const text = kv.text(entryOf(desk));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Answer of the call that put up this notice. */
function posted(desk, notice) {
  return new Output(
    { desk, number: notice.key, urgent: notice.urgent },
    {
      receipt: { desk, posted_at: notice.posted_at },
      changes: [{ resourceType: 'notice', resourceId: entryOf(desk), operation: 'set', version: notice.key }],
    },
  );
}

tool(
  'Notice.Post',
  {
    description: 'Puts up the notice of a desk for the next shift. It replaces the earlier notice of the desk.',
    input: object({
      desk: oneOf(...DESKS),
      text: string({ minLength: 1, maxLength: 4000 }),
      urgent: optional(boolean()),
      hours: integer({ minimum: 1, maximum: 72 }),
    }),
    output: object({ desk: string(), number: string(), urgent: boolean() }),
    effects: ['internal_write'],
    // A repetition finds the notice of its own key and leaves it as it is.
    idempotentByKeySeconds: 6 * 3600,
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the desk has no notice';
      const { key } = JSON.parse(text);
      return key === version || `the desk has the notice ${key}`;
    },
  },
  ({ desk, text, urgent = false, hours }, context) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the notice has no text');
    const key = context.externalKey;
    const current = read(desk);
    if (current?.key === key) return posted(desk, current);

    const now = Date.now();
    const notice = {
      key,
      text: text.trim(),
      urgent,
      posted_at: new Date(now).toISOString(),
      until: new Date(now + hours * 3600_000).toISOString(),
    };
    kv.set(entryOf(desk), JSON.stringify(notice));
    return posted(desk, notice);
  },
);

tool(
  'Notice.Read',
  {
    description: 'Reads the notice of a desk. A notice that has expired is not shown.',
    input: object({ desk: oneOf(...DESKS) }),
    output: object({ text: nullable(string()), urgent: boolean(), minutes_left: integer() }),
    effects: ['read_only'],
  },
  ({ desk }) => {
    const notice = read(desk);
    const left = notice === undefined ? 0 : Math.floor((Date.parse(notice.until) - Date.now()) / 60_000);
    if (left <= 0) return { text: null, urgent: false, minutes_left: 0 };
    return { text: notice.text, urgent: notice.urgent, minutes_left: left };
  },
);
