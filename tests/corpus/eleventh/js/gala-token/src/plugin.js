import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const LETTERS = 'abcdefghjkmnpqrstuvwxyz234567890';
const entry = (key) => `token/${key}`;

function code() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => LETTERS[byte % 32]).join('');
}

/** Returns the token of a call and its text, or undefined. */
function read(key) {
  const text = kv.text(entry(key));
  if (text === undefined) return undefined;
  try {
    const { code, guest, seats, issued_at } = JSON.parse(text);
    return { text, token: { code, guest, seats, issued_at } };
  } catch (cause) {
    throw new Failure('SCHEMA_VALIDATION_FAILED', `the entry ${entry(key)} cannot be read`, { applied: 'unknown', cause });
  }
}

const issued = (key, { text, token }) =>
  new Output(token, {
    receipt: { entry: entry(key), code: token.code },
    changes: [{ resourceType: 'token', resourceId: entry(key), operation: 'issue', version: text }],
  });

tool(
  'Gala.IssueToken',
  {
    description: 'Issues a token for the seats of a guest at the gala.',
    input: object({ guest: string({ minLength: 1, maxLength: 120 }), seats: integer({ minimum: 1, maximum: 12 }) }),
    output: object({ code: string(), guest: string(), seats: integer(), issued_at: string() }),
    effects: ['internal_write'],
    // The entry of a call stays, and a repetition returns it.
    idempotentByKeySeconds: 30 * 24 * 60 * 60,
    reconcile: (args, key) => {
      const found = read(key);
      if (found === undefined) return 'did-not-happen';
      // Another guest or number of seats: the entry was changed since.
      if (found.token.guest !== args.guest || found.token.seats !== args.seats) return 'unknown';
      return happened(issued(key, found));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the token is missing';
      return text === version || 'the token was changed';
    },
  },
  ({ guest, seats }, { externalKey }) => {
    const found = read(externalKey);
    if (found !== undefined) return issued(externalKey, found);
    const token = { code: code(), guest, seats, issued_at: new Date().toISOString() };
    const text = JSON.stringify(token);
    kv.set(entry(externalKey), text);
    return issued(externalKey, { text, token });
  },
);
