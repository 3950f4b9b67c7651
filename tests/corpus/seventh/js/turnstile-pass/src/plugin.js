import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const DAY = 24 * 60 * 60;
const FRESH_MS = 20 * 60 * 1000;

const place = (key) => `pass/${key}`;

function stored(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function issued(key, { code, zone, issued_at }) {
  return new Output(
    { code, zone, issued_at },
    { receipt: { code }, changes: [{ resourceType: 'pass', resourceId: key, operation: 'create', version: code }] },
  );
}

function newCode() {
  const bytes = crypto.getRandomValues(new Uint8Array(5));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('').toUpperCase();
}

tool(
  'Turnstile.Admit',
  {
    description: 'Issues a day pass that opens the turnstiles of a zone.',
    input: object({ visitor: string({ minLength: 1, maxLength: 200 }), zone: oneOf('lobby', 'canteen', 'lab') }),
    output: object({ code: string(), zone: string(), issued_at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: DAY,
    verify: ({ resourceId, version }) => {
      const pass = stored(resourceId);
      if (pass === undefined) return 'the pass was removed';
      return pass.code === version || `the pass has the code ${pass.code}`;
    },
  },
  ({ visitor, zone }, { externalKey }) => {
    if (visitor.trim() === '') throw new Failure('INVALID_INPUT', 'a pass needs the name of a visitor');
    const now = new Date();
    const known = stored(externalKey);
    if (known !== undefined && now - new Date(known.issued_at) < FRESH_MS) return issued(externalKey, known);
    const pass = { code: newCode(), visitor: visitor.trim(), zone, issued_at: now.toISOString() };
    kv.set(place(externalKey), JSON.stringify(pass));
    return issued(externalKey, pass);
  },
);
