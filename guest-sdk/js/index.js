// Write Latchwork plugins in JavaScript. README.md beside this file has the whole story.

import { Failure, fromHost } from './failure.js';
import { ask } from './host.js';
import { parse, stringify } from './json.js';

export { Failure };
export { happened, notYet, Output, step, tool } from './operators.js';
export * as schema from './schema.js';

function called(f) {
  try {
    return parse(f());
  } catch (thrown) {
    throw fromHost(thrown);
  }
}

/** The only way from a step to the world: each call is executed at most once, recorded, and answered from the record ever after. */
export const tools = {
  /** Call a tool and wait for its final answer; throws a Failure. */
  call(operator, args, { actionKey } = {}) {
    return called(() => ask('tools.call').call(operator, stringify(args), actionKey));
  },
  /** Call several at once: `[{ operator, args, actionKey? }]`. Gives `[{ ok } | { failure }]`, in order. */
  callAll(calls) {
    const requests = calls.map(({ operator, args, actionKey }) => ({ operator, args: stringify(args), actionKey }));
    return ask('tools.callAll').callAll(requests).map((answer) => {
      const { ok, error } = answer;
      return error === undefined ? { ok: parse(ok) } : { failure: fromHost(error) };
    });
  },
};

/** Informational events for consumers outside. */
export const events = {
  emit(name, payload) {
    ask('events.emit').emit(name, stringify(payload));
  },
};

/** The plugin's `config` table in latch.toml; for tools. */
export const config = {
  get(key) {
    const text = ask('config.get').config(key);
    return text === undefined || text === null ? undefined : parse(text);
  },
};

/** Placeholders of secrets, which the host replaces in requests to granted hosts; for tools. */
export const secrets = {
  get(name) {
    return granted(() => ask('secrets.get').secret(name), `the secret ${name}`, 'secrets');
  },
};

/** A small persistent map in the namespace its grant names; for tools. Values are strings or Uint8Arrays. */
export const kv = {
  get(key) {
    return granted(() => ask('kv.get').kvGet(key), `the key ${key}`, 'kv') ?? undefined;
  },
  /** The value as text. */
  text(key) {
    const bytes = kv.get(key);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  },
  set(key, value) {
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    granted(() => ask('kv.set').kvSet(key, bytes), `the key ${key}`, 'kv');
  },
  delete(key) {
    return granted(() => ask('kv.delete').kvDelete(key), `the key ${key}`, 'kv');
  },
};

function granted(f, what, grant) {
  try {
    return f();
  } catch (thrown) {
    const error = thrown?.payload ?? thrown;
    const tag = typeof error === 'string' ? error : error?.tag;
    if (tag === 'not-granted') throw new Failure('POLICY_DENIED', `${what}: latch.toml does not grant it (grants = { ${grant} = … })`);
    if (tag === 'missing') throw new Failure('MISSING_REQUIRED_CONTEXT', `${what} is granted, but has no value`);
    if (tag === 'too-large') throw new Failure('INVALID_INPUT', `${what}: keys have up to 256 bytes, values up to 64 KiB`);
    if (tag === 'unavailable') throw new Failure('DEPENDENCY_UNAVAILABLE', `${what}: ${error.val}`, { applied: 'unknown' });
    throw thrown;
  }
}
