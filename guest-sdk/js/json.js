// JSON without silent loss. JavaScript has doubles alone: an integer of 2^53 or more would be
// rounded on its way in, NaN would become null on its way out. Both are refused instead.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The value of a JSON text; throws a RangeError that names an integer which a number cannot hold. */
export function parse(text) {
  const value = JSON.parse(text);
  // Shorter runs of digits are always exact.
  if (/\d{16}/.test(text)) {
    for (const [token] of text.matchAll(TOKEN)) {
      if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
        throw new RangeError(`the integer ${token} does not fit a JavaScript number (2^53 and more are rounded): pass it as a string`);
      }
    }
  }
  return value;
}

// The host takes no more, and an engine's stack not much more.
const DEPTH = 120;

/** The JSON text of a value; throws a RangeError that names the place of what JSON cannot hold. */
export function stringify(value) {
  return JSON.stringify(plain(value, '', '', [])) ?? 'null';
}

/** The value with nothing in it that JSON.stringify would drop, round or turn into something else. */
function plain(value, path, key, above) {
  const refuse = (why) => {
    throw new RangeError(`${path || 'the value'} ${why}`);
  };
  if (typeof value?.toJSON === 'function') value = value.toJSON(key);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(`is ${value}, which JSON does not have`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
      refuse(`is ${value}: integers of 2^53 and more are rounded; use a string`);
    }
  }
  if (typeof value === 'bigint') refuse(`is the BigInt ${value}: use a number below 2^53 or a string`);
  if (typeof value === 'function' || typeof value === 'symbol') refuse(`is a ${typeof value}, which JSON does not have`);
  if (value === null || typeof value !== 'object') return value;
  if (above.includes(value)) refuse('holds itself');
  if (above.length === DEPTH) refuse(`lies deeper than ${DEPTH} levels`);
  if (typeof value.then === 'function') refuse('is a promise: functions are not async, calls of tools wait by themselves');
  if (value instanceof Map) refuse('is a Map: use Object.fromEntries(map), or [...map]');
  if (value instanceof Set) refuse('is a Set: use [...set]');
  if (value instanceof Error) refuse('is an Error: throw it, or use its message');
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) refuse('is binary: use Array.from, or a text');
  if (value instanceof RegExp || value instanceof WeakMap || value instanceof WeakSet) refuse(`is a ${value.constructor.name}, which JSON does not have`);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return value.valueOf();
  const inner = [...above, value];
  if (Array.isArray(value)) {
    const items = [];
    for (let i = 0; i < value.length; i++) items.push(plain(value[i], `${path}/${i}`, String(i), inner) ?? null);
    return items;
  }
  const made = {};
  for (const name of Object.keys(value)) {
    const item = plain(value[name], `${path}/${name}`, name, inner);
    // Not by assignment: a key may be named __proto__.
    Object.defineProperty(made, name, { value: item, enumerable: true });
  }
  return made;
}
