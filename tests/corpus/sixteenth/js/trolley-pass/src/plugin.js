// Issues passes for the luggage trolleys of a station.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, nullable, object, oneOf, string } = schema;

const place = (code) => `pass/${code}`;

/** Returns a pass, or undefined if there is none. */
function passAt(code) {
  const text = kv.text(place(code));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Stores a pass. The map is shared with the counters, and a short wait helps when they are busy. */
function store(code, pass) {
  try {
    kv.set(place(code), JSON.stringify(pass));
  } catch (error) {
    if (error instanceof Failure && error.code === 'DEPENDENCY_UNAVAILABLE') {
      throw new Failure('TRANSIENT_DB_LOCK', `the passes are busy: ${error.message}`, { retryAfterMs: 3000 });
    }
    throw error;
  }
}

function issued(code, { holder, zone, number }) {
  return new Output(
    { code, number, text: `Trolley pass ${number} for ${holder}, zone ${zone}` },
    { changes: [{ resourceType: 'pass', resourceId: code, operation: 'create', version: number }] },
  );
}

tool(
  'Pass.Issue',
  {
    description: 'Issues a pass for a trolley.',
    input: object({ holder: string({ minLength: 1, maxLength: 120 }), zone: oneOf('A', 'B', 'C') }),
    output: object({ code: string(), number: string(), text: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const pass = passAt(key);
      return pass === undefined ? 'did-not-happen' : happened(issued(key, pass));
    },
    compensate: (args, result, key) => {
      if (passAt(key)?.number !== result.number || !kv.delete(place(key))) {
        throw new Failure('POLICY_DENIED', `pass ${result.number} is no longer there`);
      }
      return new Output(null, { changes: [{ resourceType: 'pass', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ holder, zone }, context) => {
    if (holder.trim() === '') throw new Failure('INVALID_INPUT', 'the pass has no holder');
    const number = crypto.randomUUID().slice(0, 8).toUpperCase();
    const pass = { holder: holder.trim(), zone, number, since: new Date().toISOString() };
    store(context.externalKey, pass);
    return issued(context.externalKey, pass);
  },
);

tool(
  'Pass.Check',
  {
    description: 'Tells whether a pass is valid in a zone.',
    input: object({ code: string({ minLength: 1, maxLength: 128 }), zone: oneOf('A', 'B', 'C') }),
    output: object({ valid: boolean(), number: nullable(string()) }),
    effects: ['read_only'],
  },
  ({ code, zone }) => {
    const pass = passAt(code);
    return { valid: pass?.zone === zone, number: pass?.number ?? null };
  },
);
