// The failure of an operator.

import { stringify } from './json.js';
import { said, show } from './show.js';
import { inSources, thrownAt } from './stack.js';

/** The ten failure codes with the default of `applied`: 'unknown' if the failed call may have changed the world. */
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
 * A failure with a code. Operators and failed tool calls throw a Failure. The host may retry a call that fails
 * with one of the first five codes.
 */
export class Failure extends Error {
  /** @param {string} code  @param {string} message  @param {{retryAfterMs?: number, detail?: unknown, applied?: 'no'|'unknown', cause?: unknown}} [more] */
  constructor(code, message, more = {}) {
    super(message, 'cause' in more ? { cause: more.cause } : undefined);
    if (!(code in APPLIED)) throw new TypeError(`invalid failure code ${code} (${message}): use one of ${Object.keys(APPLIED).join(', ')}`);
    this.name = 'Failure';
    this.code = code;
    this.retryAfterMs = more.retryAfterMs;
    this.detail = more.detail;
    this.applied = more.applied ?? APPLIED[code];
  }
}

/** Converts an error of the host to a Failure. Returns other thrown values unchanged. */
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
 * Converts a thrown value for the host. A value that is not a Failure is a defect of the operator. The host
 * reports the defect as PLUGIN_EXCEPTION with text and stack.
 */
export function toHost(thrown, mayHaveChanged) {
  try {
    const error = described(thrown, mayHaveChanged);
    return { ...error, message: wellFormed(error.message) };
  } catch {
    // Reached if the thrown value throws when its properties are read.
    return { code: 'invalid-input', message: 'a value was thrown that cannot be converted to text', retryAfterMs: undefined, detail: unhandled({}), applied: mayHaveChanged ? 'unknown' : 'no' };
  }
}

/** Replaces lone surrogates, which `slice` can produce. The host traps a component that passes one. */
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
  const stack = isError && thrown.stack ? wellFormed(inSources(String(thrown.stack))) : undefined;
  const place = stack === undefined ? '' : thrownAt(stack);
  const text = (isError ? said(thrown) : `thrown: ${show(thrown)}`) + (place && ` (at ${place})`);
  const detail = { exception: wellFormed(isError ? thrown.name : typeof thrown), message: wellFormed(isError ? thrown.message : show(thrown)) };
  if (stack !== undefined) detail.stack = stack;
  if (isError && thrown.cause !== undefined) detail.cause = wellFormed(said(thrown.cause));
  if (isError && Array.isArray(thrown.errors)) detail.errors = thrown.errors.map((one) => wellFormed(show(one)));
  return { code: 'invalid-input', message: text, retryAfterMs: undefined, detail: unhandled(detail), applied: mayHaveChanged ? 'unknown' : 'no' };
}

/** Marks an exception that the operator did not handle. The host recognizes the mark. */
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
