// SDK for Latchwork plugins in JavaScript. README.md in this folder has examples and rules.

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

/**
 * Tool calls, the only access of a step to the outside world. A call takes effect at most once. The
 * host itself retries a failed call, records the final answer, and returns the recorded answer from then on.
 */
export const tools = {
  /** Calls a tool and waits for its final answer. Throws a Failure. */
  call(operator, args, { actionKey } = {}) {
    return called(() => ask('tools.call').call(operator, stringify(args), actionKey));
  },
  /**
   * Calls several tools concurrently: `[{ operator, args, actionKey? }]`. Returns `[{ ok } | { failure
   * }]` in the order of the calls.
   */
  callAll(calls) {
    const requests = calls.map(({ operator, args, actionKey }) => ({ operator, args: stringify(args), actionKey }));
    return ask('tools.callAll').callAll(requests).map((answer) => {
      const { ok, error } = answer;
      return error === undefined ? { ok: parse(ok) } : { failure: fromHost(error) };
    });
  },
};

/** Informational events for consumers outside the host. */
export const events = {
  emit(name, payload) {
    ask('events.emit').emit(name, stringify(payload));
  },
};

/** The plugin's `config` table in latch.toml. Available only in tools. */
export const config = {
  get(key) {
    const text = ask('config.get').config(key);
    return text === undefined || text === null ? undefined : parse(text);
  },
};

/** Placeholders of secrets. The host replaces them where a grant binds the secret. Available only in tools. */
export const secrets = {
  get(name) {
    return granted(() => ask('secrets.get').secret(name), `secret ${name}`, 'secrets');
  },
};

/**
 * A small persistent map in the namespace of the kv grant. Each tenant has a map of its own, unless the
 * grant is shared. Values are strings or Uint8Arrays. A key has at most 256 bytes and a value at most
 * 64 KiB. Available only in tools.
 */
export const kv = {
  get(key) {
    return granted(() => ask('kv.get').kvGet(key), `kv key ${key}`, 'kv') ?? undefined;
  },
  /** Returns the value as text, or undefined if the key is not set. */
  text(key) {
    const bytes = kv.get(key);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  },
  set(key, value) {
    const bytes = typeof value === 'string' ? new TextEncoder().encode(value) : value;
    granted(() => ask('kv.set').kvSet(key, bytes), `kv key ${key}`, 'kv');
  },
  delete(key) {
    return granted(() => ask('kv.delete').kvDelete(key), `kv key ${key}`, 'kv');
  },
};

function granted(f, what, grant) {
  try {
    return f();
  } catch (thrown) {
    const error = thrown?.payload ?? thrown;
    const tag = typeof error === 'string' ? error : error?.tag;
    if (tag === 'not-granted') throw new Failure('POLICY_DENIED', `${what}: not granted; add grants = { ${grant} = … } in latch.toml`);
    if (tag === 'missing') throw new Failure('MISSING_REQUIRED_CONTEXT', `${what} is granted but has no value`);
    if (tag === 'too-large') throw new Failure('INVALID_INPUT', `${what}: entry too large; a key has at most 256 bytes and a value at most 64 KiB`);
    if (tag === 'unavailable') throw new Failure('DEPENDENCY_UNAVAILABLE', `${what}: ${error.val}`, { applied: 'unknown' });
    throw thrown;
  }
}
