// Operators of a plugin: registered by the author, described and run for the host.

import { Failure, fromHost, toHost } from './failure.js';
import { ask, during } from './host.js';
import { parse, stringify } from './json.js';

const EFFECTS = ['read_only', 'produce_outcome', 'internal_write', 'external_write', 'external_send'];
const DETERMINISM = ['pure', 'stable', 'external'];
const ACCOUNTS = ['reconcile', 'verify', 'compensate'];
const OPTIONS = ['description', 'input', 'output', 'effects', 'determinism', 'outcome', 'limits'];
const TOOL_OPTIONS = [...OPTIONS, 'idempotentByKeySeconds', 'settlingMs', ...ACCOUNTS];

const operators = new Map();

/** Registers the step operator `name`, in the form `Noun.Verb`, with `handler(input, context)`. */
export function step(name, options, handler) {
  register('step', name, options, handler, OPTIONS);
}

/** Registers the tool operator `name`, in the form `Noun.Verb`, with `handler(args, context)`. */
export function tool(name, options, handler) {
  register('tool', name, options, handler, TOOL_OPTIONS);
}

function register(kind, name, options, handler, known) {
  const wrong = (why) => {
    throw new TypeError(`${kind}(${JSON.stringify(name)}): ${why}`);
  };
  if (typeof name !== 'string' || name === '') wrong('the first argument must be the name, such as "Text.Count"');
  if (options === null || typeof options !== 'object') wrong('the second argument must be an object of options');
  if (typeof handler !== 'function') wrong('the third argument must be the handler function');
  for (const key of Object.keys(options)) if (!known.includes(key)) wrong(`unknown option ${key}: use one of ${known.join(', ')}`);
  if (operators.has(name)) wrong('registered twice');
  for (const effect of options.effects ?? []) if (!EFFECTS.includes(effect)) wrong(`invalid effect ${effect}: use one of ${EFFECTS.join(', ')}`);
  if (!DETERMINISM.includes(options.determinism ?? 'pure')) wrong(`invalid determinism: use one of ${DETERMINISM.join(', ')}`);
  operators.set(name, { kind, name, options, handler });
}

/** Returns all operators, for tests and checks. */
export function registered() {
  return [...operators.values()];
}

/** Checks that the registered operators match latch-plugin.toml. Called once at the end of a build. */
export function checkRecipe(kind, exports) {
  if (operators.size === 0) throw new Error(`the plugin registers no operator: call ${kind}('Noun.Verb', { … }, (input, context) => …)`);
  for (const { kind: own, name, options } of operators.values()) {
    if (own !== kind) throw new Error(`${name} is a ${own}, but latch-plugin.toml says kind = "${kind}"`);
    for (const account of ACCOUNTS) {
      if (options[account] && !exports.includes(account)) {
        throw new Error(`${name} has ${account}, but latch-plugin.toml does not export it: add exports = ["${account}"]`);
      }
    }
  }
  for (const account of exports) {
    if (!registered().some(({ options }) => options[account])) throw new Error(`latch-plugin.toml exports ${account}, but no operator has it`);
  }
}

/** Returns the manifest in the form of the host. */
export function describe(version) {
  return { version, operators: registered().map(manifest) };
}

function manifest({ kind, name, options }) {
  const { outcome, limits = {} } = options;
  const effects = options.effects ?? [outcome ? 'produce_outcome' : 'read_only'];
  return {
    name,
    description: options.description ?? '',
    inputSchema: JSON.stringify(options.input ?? {}),
    outputSchema: JSON.stringify(options.output ?? {}),
    effects: effects.map((effect) => effect.replaceAll('_', '-')),
    determinism: options.determinism ?? (kind === 'step' ? 'pure' : 'external'),
    outcomeType: outcome?.type,
    outcomeStatus: outcome?.status,
    resolution: { idempotentByKeySeconds: options.idempotentByKeySeconds ?? 0, settlingMs: options.settlingMs ?? 0 },
    limits: { memoryBytes: limits.memoryBytes, timeoutMs: limits.timeoutMs, outputBytes: limits.outputBytes },
  };
}

/** A result with the facts that the host records with it. A tool may return an Output instead of a plain value. */
export class Output {
  /** @param {unknown} result  @param {{receipt?: unknown, changes?: object[], usage?: object}} [more] */
  constructor(result, { receipt, changes = [], usage } = {}) {
    Object.assign(this, { result, receipt, changes, usage });
  }
}

/** Runs a step. Throws an error in the form of the host. */
export function run(name, input) {
  return serve(name, 'step', ({ handler }) => given(name, handler(taken(name, input), stepContext())));
}

/** Runs a tool. Throws an error in the form of the host. */
export function invoke(name, args) {
  return serve(name, 'tool', ({ handler }) => outputToHost(name, handler(taken(name, args), toolContext())));
}

/**
 * Asks a tool whether a call happened. The handler returns `happened(result)`, `'did-not-happen'`,
 * `notYet(ms)` or `'unknown'`.
 */
export function reconcile(name, key, args) {
  return serve(name, 'tool', ({ options }) => {
    if (!options.reconcile) return { tag: 'unknown' };
    const verdict = options.reconcile(taken(name, args), key);
    if (verdict instanceof Happened) return { tag: 'happened', val: outputToHost(name, verdict.result) };
    if (verdict instanceof NotYet) return { tag: 'not-yet', val: verdict.milliseconds };
    if (verdict === 'did-not-happen' || verdict === 'unknown') return { tag: verdict };
    throw new TypeError(`reconcile of ${name} returned ${String(verdict)}: return one of happened(result), 'did-not-happen', notYet(ms), 'unknown'`);
  });
}

class Happened {
  constructor(result) {
    this.result = result;
  }
}
class NotYet {
  constructor(milliseconds) {
    this.milliseconds = milliseconds;
  }
}
/** Verdict: the call happened, with this result or Output. */
export const happened = (result) => new Happened(result);
/** Verdict: the outcome is not known yet. The host asks again after this many milliseconds. */
export const notYet = (milliseconds) => new NotYet(milliseconds);

/**
 * Asks a tool whether a recorded change is still in place. The handler returns `true` or a description of
 * the state found. Fails if the operator has no handler.
 */
export function verify(name, change) {
  return serve(name, 'tool', ({ options }) => {
    if (!options.verify) throw new Failure('DEPENDENCY_UNAVAILABLE', `${name} has no verify handler`);
    const found = options.verify(changeFromHost(change));
    return found === true ? { tag: 'confirmed' } : { tag: 'mismatch', val: String(found) };
  });
}

/** Undoes a call. */
export function compensate(name, key, args, result) {
  return serve(name, 'tool', ({ options }) => {
    if (!options.compensate) throw new Failure('INVALID_INPUT', `${name} cannot be undone: it has no compensate handler`);
    return outputToHost(name, options.compensate(taken(name, args), taken(name, result), key));
  });
}

function serve(name, kind, f) {
  const operator = operators.get(name);
  const changes = operator?.options.effects?.some((effect) => effect.includes('write') || effect.includes('send'));
  return during(() => {
    try {
      if (operator?.kind !== kind) throw new Failure('INVALID_INPUT', `this plugin has no ${kind} ${name}`);
      return f(operator);
    } catch (thrown) {
      throw toHost(thrown, kind === 'tool' && changes === true);
    }
  });
}

function taken(name, text) {
  try {
    return parse(text);
  } catch (error) {
    throw new Failure('INVALID_INPUT', `invalid input of ${name}: ${error.message}`, { cause: error });
  }
}

function given(name, value) {
  if (typeof value?.then === 'function') {
    throw new TypeError(`${name} returned a promise: its function must not be async; tools.call and tools.callAll wait for their answers`);
  }
  try {
    return stringify(value);
  } catch (error) {
    throw new Failure('SCHEMA_VALIDATION_FAILED', `output of ${name} is not JSON: ${error.message}`, { cause: error, applied: 'unknown' });
  }
}

function outputToHost(name, value) {
  const { result, receipt, changes, usage } = value instanceof Output ? value : new Output(value);
  return {
    result: given(name, result),
    receipt: receipt === undefined ? undefined : given(name, receipt),
    stateChanges: changes.map(changeToHost),
    usage: usage && { tokensIn: 0, tokensOut: 0, costMicroUsd: 0, credits: 0, ...usage },
  };
}

const CHANGE = ['resourceType', 'resourceId', 'operation', 'version', 'etag', 'externalRef'];

function changeToHost(change) {
  for (const key of Object.keys(change)) if (!CHANGE.includes(key)) throw new TypeError(`a change has no field ${key}: use one of ${CHANGE.join(', ')}`);
  for (const key of CHANGE.slice(0, 3)) if (typeof change[key] !== 'string') throw new TypeError(`a change needs a string ${key}`);
  return Object.fromEntries(CHANGE.map((key) => [key, change[key]]));
}

function changeFromHost(change) {
  return Object.fromEntries(CHANGE.map((key) => [key, change[key]]));
}

/** Returns the trace context of the job. The context is read from the host on first use. */
function stepContext() {
  let asked;
  const get = () => (asked ??= ask('the context').context());
  return lazy({}, ['tenant', 'actor', 'correlationId', 'jobId', 'planId', 'stepId'], get);
}

function toolContext() {
  let asked;
  const get = () => (asked ??= ask('the context').invocation());
  return lazy(stepContext(), ['traceId', 'slot', 'externalKey', 'attempt', 'triesBefore', 'timeoutMs'], get);
}

function lazy(target, keys, get) {
  for (const key of keys) Object.defineProperty(target, key, { get: () => get()[key], enumerable: true });
  return target;
}

export { fromHost };
