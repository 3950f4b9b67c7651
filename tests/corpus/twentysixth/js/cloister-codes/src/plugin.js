import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

const doorOf = (key) => `code/${key}`;
const DIGITS = 6;

/** Returns six digits, each with the same chance: bytes of 250 and more are drawn again. */
function digits() {
  let code = '';
  while (code.length < DIGITS) {
    for (const byte of crypto.getRandomValues(new Uint8Array(16))) {
      if (byte < 250 && code.length < DIGITS) code += byte % 10;
    }
  }
  return code;
}

function issued(key, text) {
  const { door, code } = JSON.parse(text);
  return new Output(
    { issue: key, door, code },
    { changes: [{ resourceType: 'code', resourceId: key, operation: 'create', version: text }] },
  );
}

tool(
  'Cloister.Issue',
  {
    description: 'Issues a code for a door of the guest house of a cloister.',
    input: object({ door: string({ minLength: 1, maxLength: 60 }), nights: integer({ minimum: 1, maximum: 30 }) }),
    output: object({ issue: string(), door: string(), code: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(doorOf(key));
      return text === undefined ? 'did-not-happen' : happened(issued(key, text));
    },
    verify: ({ resourceId, version }) => {
      const text = kv.text(doorOf(resourceId));
      if (text === undefined) return 'the code is missing';
      return text === version || 'the code is another one';
    },
    compensate: ({ door, nights }, { code }, key) => {
      const text = kv.text(doorOf(key));
      if (text !== JSON.stringify({ door, nights, code })) throw new Failure('POLICY_DENIED', 'the code was changed or removed');
      if (!kv.delete(doorOf(key))) throw new Failure('POLICY_DENIED', 'the code was removed');
      return new Output(null, { changes: [{ resourceType: 'code', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ door, nights }, { externalKey }) => {
    if (door !== door.trim()) throw new Failure('INVALID_INPUT', 'the name of the door has spaces around it');
    const text = JSON.stringify({ door, nights, code: digits() });
    kv.set(doorOf(externalKey), text);
    return issued(externalKey, text);
  },
);

tool(
  'Cloister.Check',
  {
    description: 'Compares a typed code with the one that was issued.',
    input: object({ issue: string({ minLength: 1, maxLength: 160 }), code: string({ maxLength: 20 }) }),
    output: object({ opens: boolean(), door: string() }),
  },
  ({ issue, code }) => {
    const text = kv.text(doorOf(issue));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no issue ${issue}`);
    const entry = JSON.parse(text);
    return { opens: entry.code === code, door: entry.door };
  },
);
