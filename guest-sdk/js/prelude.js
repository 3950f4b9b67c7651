// Connects JavaScript's own clock, randomness and console to the host. Evaluated before the plugin, so that ordinary
// code works, for example `const random = Math.random` at the top of a module.

import { makeConsole } from './console.js';
import { ask } from './host.js';
import { TextDecoder, TextEncoder } from './text.js';

function define(target, name, value) {
  Object.defineProperty(target, name, { value, writable: true, configurable: true, enumerable: false });
}

function milliseconds(what) {
  const { seconds, nanoseconds } = ask(what).now();
  return seconds * 1000 + Math.floor(nanoseconds / 1e6);
}

const RealDate = Date;

function InjectedDate(...args) {
  if (new.target === undefined) return new RealDate(milliseconds('Date()')).toString();
  return Reflect.construct(RealDate, args.length > 0 ? args : [milliseconds('new Date()')], new.target);
}

function bytes(what, length) {
  const all = new Uint8Array(length);
  for (let at = 0; at < length; at += 65536) all.set(ask(what).randomBytes(Math.min(65536, length - at)), at);
  return all;
}

function getRandomValues(array) {
  if (!ArrayBuffer.isView(array) || array instanceof DataView || array instanceof Float32Array || array instanceof Float64Array) {
    throw new TypeError('crypto.getRandomValues needs an integer typed array');
  }
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(bytes('crypto.getRandomValues', array.byteLength));
  return array;
}

function randomUUID() {
  const id = bytes('crypto.randomUUID', 16);
  id[6] = (id[6] & 0x0f) | 0x40;
  id[8] = (id[8] & 0x3f) | 0x80;
  const hex = Array.from(id, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Replaces the globals. Called by `component/`, never in a test. */
export function install() {
  define(Math, 'random', () => {
    const host = ask('Math.random');
    return (host.randomU32() * 2 ** 21 + (host.randomU32() >>> 11)) / 2 ** 53;
  });

  InjectedDate.prototype = RealDate.prototype;
  define(InjectedDate, 'length', 7);
  define(InjectedDate, 'name', 'Date');
  define(InjectedDate, 'now', () => milliseconds('Date.now'));
  define(InjectedDate, 'UTC', RealDate.UTC);
  define(InjectedDate, 'parse', RealDate.parse);
  define(RealDate.prototype, 'constructor', InjectedDate);
  define(globalThis, 'Date', InjectedDate);

  let origin;
  const elapsed = (what) => {
    const { seconds, nanoseconds } = ask(what).now();
    origin ??= { seconds, nanoseconds };
    return (seconds - origin.seconds) * 1000 + (nanoseconds - origin.nanoseconds) / 1e6;
  };
  define(globalThis, 'performance', { now: () => elapsed('performance.now') });
  const { subtle } = globalThis.crypto ?? {};
  define(globalThis, 'crypto', { getRandomValues, randomUUID, ...(subtle && { subtle }) });

  const log = (level, text) => ask(`console.${level}`).log(level, text);
  define(globalThis, 'console', makeConsole(log, () => elapsed('console.time')));

  globalThis.TextEncoder ?? define(globalThis, 'TextEncoder', TextEncoder);
  globalThis.TextDecoder ?? define(globalThis, 'TextDecoder', TextDecoder);
}
