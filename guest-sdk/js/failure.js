// Why an operator failed.

import { stringify } from './json.js';
import { said, show } from './show.js';

/** The ten codes, and whether the world may have been changed where nothing else is said. */
const APPLIED = {
  NETWORK_TIMEOUT: 'unknown',
  RATE_LIMIT: 'no',
  TEMPORARY_PROVIDER_ERROR: 'unknown',
  TRANSIENT_DB_LOCK: 'no',
  DEPENDENCY_UNAVAILABLE: 'unknown',
  POLICY_DENIED: 'no',
  INVALID_INPUT: 'no',
  SCHEMA_VALIDATION_FAILED: 'unknown',
  MISSING_REQUIRED_CONTEXT: 'no',
  AUTH_FORBIDDEN: 'no',
};

/**
 * A failure with a code, to be thrown by an operator; calls of tools throw it as well.
 * The host retries the first five codes by itself.
 */
export class Failure extends Error {
  /** @param {string} code  @param {string} message  @param {{retryAfterMs?: number, detail?: unknown, applied?: 'no'|'unknown', cause?: unknown}} [more] */
  constructor(code, message, more = {}) {
    super(message, 'cause' in more ? { cause: more.cause } : undefined);
    if (!(code in APPLIED)) throw new TypeError(`${code} is no code of a failure (${message}): one of ${Object.keys(APPLIED).join(', ')}`);
    this.name = 'Failure';
    this.code = code;
    this.retryAfterMs = more.retryAfterMs;
    this.detail = more.detail;
    this.applied = more.applied ?? APPLIED[code];
  }
}

/** What the host gave as an error. */
export function fromHost(thrown) {
  const error = thrown?.payload ?? thrown;
  const code = typeof error?.code === 'string' ? error.code.toUpperCase().replaceAll('-', '_') : '';
  if (!(code in APPLIED)) return thrown;
  let detail;
  if (typeof error.detail === 'string') {
    try {
      detail = JSON.parse(error.detail);
    } catch {
      detail = error.detail;
    }
  }
  return new Failure(code, error.message, { retryAfterMs: error.retryAfterMs ?? undefined, detail, applied: error.applied });
}

/**
 * What was thrown, as the host takes it. Whatever is no Failure is a mistake in the operator: its
 * text and stack are kept, and the host makes PLUGIN_EXCEPTION of it.
 */
export function toHost(thrown, mayHaveChanged) {
  try {
    const error = described(thrown, mayHaveChanged);
    return { ...error, message: wellFormed(error.message) };
  } catch {
    // What was thrown throws when it is looked at.
    return { code: 'invalid-input', message: 'something was thrown that cannot be shown', retryAfterMs: undefined, detail: unhandled({}), applied: mayHaveChanged ? 'unknown' : 'no' };
  }
}

/** A text that can leave: halves of characters, as `slice` makes them, cannot, and would trap. */
export function wellFormed(said) {
  return String(said).replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
}

function described(thrown, mayHaveChanged) {
  if (thrown instanceof Failure) {
    const detail = thrown.detail === undefined ? undefined : json(thrown.detail);
    const wait = thrown.retryAfterMs === undefined ? undefined : Math.min(Math.max(0, Math.ceil(thrown.retryAfterMs)), 0xffffffff);
    return { code: thrown.code.toLowerCase().replaceAll('_', '-'), message: thrown.message, retryAfterMs: wait, detail, applied: thrown.applied };
  }
  const isError = thrown instanceof Error;
  const text = isError ? said(thrown) : `thrown: ${show(thrown)}`;
  const detail = { exception: isError ? thrown.name : typeof thrown, message: isError ? thrown.message : show(thrown) };
  if (isError && thrown.stack) detail.stack = thrown.stack;
  if (isError && thrown.cause !== undefined) detail.cause = said(thrown.cause);
  if (isError && Array.isArray(thrown.errors)) detail.errors = thrown.errors.map((one) => show(one));
  return { code: 'invalid-input', message: text, retryAfterMs: undefined, detail: unhandled(detail), applied: mayHaveChanged ? 'unknown' : 'no' };
}

/** The mark by which the host knows an exception that the operator does not handle. */
function unhandled(detail) {
  return json({ 'latchwork:exception': detail });
}

function json(value) {
  try {
    return stringify(value);
  } catch (error) {
    return JSON.stringify(`(detail that is not JSON: ${error.message})`);
  }
}
