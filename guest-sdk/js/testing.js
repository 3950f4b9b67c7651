// A test host. With the test host, `node --test` runs operators without Wasm.

import { makeConsole } from './console.js';
import { Failure } from './failure.js';
import { bind } from './host.js';
import { describe, invoke, reconcile, registered, run, verify, compensate } from './operators.js';
import { fromHost } from './failure.js';

/** A test host with a fixed clock and no grants. Records `calls`, `events` and `logs`. */
export class Host {
  calls = [];
  events = [];
  logs = [];
  #tools = new Map();
  #config = {};
  #secrets = {};
  #kv = null;
  #time;
  #context = { tenant: 'default', actor: 'ada', correlationId: 'cor_test', jobId: 'job_test', planId: 'test', stepId: 's1' };
  #invocation = { traceId: 'trace_test', slot: 's1', externalKey: 'latch:job_test:s1:1', attempt: 1, triesBefore: 0, timeoutMs: 30000 };

  /**
   * Takes `{ now, tools: { 'Web.Fetch': (args) => … }, config: {}, secrets: { NAME: 'placeholder' }, kv:
   * {}, externalKey }`. `kv` grants a namespace with these entries.
   */
  constructor({ now = '2025-11-21T23:00:00Z', tools = {}, config = {}, secrets = {}, kv = null, externalKey } = {}) {
    this.#time = new Date(now).getTime();
    for (const [name, answer] of Object.entries(tools)) this.#tools.set(name, answer);
    this.#config = config;
    this.#secrets = secrets;
    if (kv) this.#kv = new Map(Object.entries(kv).map(([key, value]) => [key, new TextEncoder().encode(value)]));
    if (externalKey) this.#invocation.externalKey = externalKey;
  }

  /** Runs a step operator. Like the host, it converts input and output from and to JSON. Throws a Failure. */
  run(name, input) {
    return JSON.parse(this.#under(() => run(name, JSON.stringify(input))));
  }
  /** Runs a tool operator. Returns `{ result, receipt, changes, usage }`. Throws a Failure. */
  invoke(name, args) {
    return output(this.#under(() => invoke(name, JSON.stringify(args))));
  }
  /** Asks whether the call with this key happened. Returns `{ tag, output?, milliseconds? }`. */
  reconcile(name, key, args) {
    const { tag, val } = this.#under(() => reconcile(name, key, JSON.stringify(args)));
    return { tag, output: tag === 'happened' ? output(val) : undefined, milliseconds: tag === 'not-yet' ? val : undefined };
  }
  verify(name, change) {
    return this.#under(() => verify(name, change));
  }
  compensate(name, key, args, result) {
    return output(this.#under(() => compensate(name, key, JSON.stringify(args), JSON.stringify(result))));
  }

  #under(f) {
    const before = bind(this.#functions());
    const real = console;
    globalThis.console = makeConsole((level, text) => this.logs.push([level, text]), () => performance.now());
    try {
      return f();
    } catch (thrown) {
      throw fromHost(thrown);
    } finally {
      globalThis.console = real;
      bind(before);
    }
  }

  #functions() {
    const call = (operator, args) => {
      this.calls.push([operator, JSON.parse(args)]);
      const answer = this.#tools.get(operator);
      if (!answer) throw new Failure('DEPENDENCY_UNAVAILABLE', `the test host has no tool ${operator}: add it to tools`);
      return JSON.stringify(answer(JSON.parse(args))) ?? 'null';
    };
    const granted = () => {
      if (!this.#kv) throw { tag: 'not-granted' };
      return this.#kv;
    };
    const seconds = Math.floor(this.#time / 1000);
    return {
      now: () => ({ seconds, nanoseconds: (this.#time % 1000) * 1e6 }),
      randomU32: () => Math.floor(Math.random() * 2 ** 32),
      randomBytes: (length) => Uint8Array.from({ length }, () => Math.floor(Math.random() * 256)),
      log: (level, message) => this.logs.push([level, message]),
      context: () => this.#context,
      invocation: () => this.#invocation,
      call,
      callAll: (calls) =>
        calls.map(({ operator, args }) => {
          try {
            return { ok: call(operator, args) };
          } catch (error) {
            return { error };
          }
        }),
      emit: (name, payload) => this.events.push([name, JSON.parse(payload)]),
      config: (key) => (key in this.#config ? JSON.stringify(this.#config[key]) : undefined),
      secret: (name) => {
        if (!(name in this.#secrets)) throw { tag: 'not-granted' };
        return this.#secrets[name];
      },
      kvGet: (key) => granted().get(key),
      kvSet: (key, value) => void granted().set(key, value),
      kvDelete: (key) => granted().delete(key),
    };
  }
}

function output({ result, receipt, stateChanges, usage }) {
  return { result: JSON.parse(result), receipt: receipt && JSON.parse(receipt), changes: stateChanges, usage };
}

export { describe, registered };
