// Pitches of a fairground: an application gets an access code for the gate. The code is random and the entry has the time
// of the application, so a repetition must not make them again.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;

const entryOf = (key) => `pitch/${key}`;

/** Fingerprint of an entry (cyrb53), to see later whether it was changed. */
function fingerprint(text) {
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 2654435761);
    b = Math.imul(b ^ text.charCodeAt(i), 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (b >>> 0).toString(16).padStart(8, '0') + (a >>> 0).toString(16).padStart(8, '0');
}

function output(key, text) {
  const entry = JSON.parse(text);
  return new Output(
    { pitch: key, gate_code: entry.gate_code, applied_at: entry.applied_at },
    {
      receipt: { pitch: key, applied_at: entry.applied_at },
      changes: [{ resourceType: 'pitch', resourceId: key, operation: 'create', version: fingerprint(text), externalRef: entryOf(key) }],
    },
  );
}

/** Returns the entry of the key, or undefined. An entry that cannot be read is a failure of the call. */
function stored(key) {
  return kv.text(entryOf(key));
}

function application(args, code, at) {
  return JSON.stringify({ stall: args.stall, metres: args.metres, goods: args.goods, gate_code: code, applied_at: at });
}

function gateCode() {
  const bytes = crypto.getRandomValues(new Uint8Array(6));
  return Array.from(bytes, (byte) => String(byte % 10)).join('');
}

tool(
  'Pitch.Apply',
  {
    description: 'Applies for a pitch before the closing date, and makes the code of the gate.',
    input: object({
      stall: string({ minLength: 1, maxLength: 200 }),
      metres: integer({ minimum: 1, maximum: 60 }),
      closes: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z$' }),
      goods: string({ maxLength: 6000 }),
    }),
    output: object({ pitch: string(), gate_code: string(), applied_at: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * 24 * 60 * 60,
    reconcile: (args, key) => {
      const entry = stored(key);
      return entry === undefined ? 'did-not-happen' : happened(output(key, entry));
    },
    verify: ({ resourceId, version }) => {
      const entry = stored(resourceId);
      if (entry === undefined) return 'there is no such application';
      return fingerprint(entry) === version || 'the application was changed';
    },
    compensate: (args, result, key) => {
      const entry = stored(key);
      if (entry === undefined) throw new Failure('POLICY_DENIED', 'the application is gone', { applied: 'no' });
      if (entry !== application(args, result.gate_code, result.applied_at)) throw new Failure('POLICY_DENIED', 'the application was changed', { applied: 'no' });
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the application is gone', { applied: 'no' });
      return new Output(null, { changes: [{ resourceType: 'pitch', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, context) => {
    const key = context.externalKey;
    // Before anything is compared with the clock: a repetition may come after the closing date.
    const earlier = stored(key);
    if (earlier !== undefined) return output(key, earlier);
    const now = Date.now();
    const closes = Date.parse(args.closes);
    if (Number.isNaN(closes)) throw new Failure('INVALID_INPUT', `${args.closes} is no date`);
    if (now >= closes) throw new Failure('POLICY_DENIED', 'applications are closed');
    const entry = application(args, gateCode(), new Date(now).toISOString());
    kv.set(entryOf(key), entry);
    return output(key, entry);
  },
);
