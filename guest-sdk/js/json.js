// JSON conversion without silent loss. JavaScript would round an integer of 2^53 or more, write NaN as null, and write
// half of a surrogate pair, which is no character. These values are rejected.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Parses a JSON text. Throws a RangeError that names the first integer which a number cannot hold. */
export function parse(text) {
  const value = JSON.parse(text);
  // Integers with fewer than 16 digits are always exact.
  if (/\d{16}/.test(text)) {
    for (const [token] of text.matchAll(TOKEN)) {
      if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
        throw new RangeError(`the integer ${token} does not fit a JavaScript number (2^53 or more is rounded): pass it as a string`);
      }
    }
  }
  return value;
}

// Maximum nesting depth. The stacks of engines allow only little more. The host itself refuses more than 64 levels in
// outputs and events of a step and in arguments of calls. The result of a tool may be deeper.
const DEPTH = 120;

/** Serializes a value as JSON. Throws a RangeError with the path of the first value that JSON cannot hold. */
export function stringify(value) {
  return JSON.stringify(plain(value, '', '', [])) ?? 'null';
}

/**
 * Returns a copy of the value that JSON.stringify writes without dropping, rounding or converting
 * anything. Throws if that is not possible.
 */
function plain(value, path, key, above) {
  const refuse = (why) => {
    throw new RangeError(`${path || 'the value'} ${why}`);
  };
  if (typeof value?.toJSON === 'function') value = value.toJSON(key);
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) refuse(`is ${value}, which JSON cannot represent`);
    if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
      refuse(`is ${value}: integers of 2^53 or more lose precision; use a string`);
    }
  }
  if (typeof value === 'string' && !value.isWellFormed()) refuse('contains half of a surrogate pair: cut texts between characters, as in [...text].slice(0, n)');
  if (typeof value === 'bigint') refuse(`is the BigInt ${value}: use a number below 2^53 or a string`);
  if (typeof value === 'function' || typeof value === 'symbol') refuse(`is a ${typeof value}, which JSON cannot represent`);
  if (value === null || typeof value !== 'object') return value;
  if (above.includes(value)) refuse('contains itself');
  if (above.length === DEPTH) refuse(`is nested deeper than ${DEPTH} levels`);
  if (typeof value.then === 'function') refuse('is a promise: operator functions must not be async; tool calls wait for their answers');
  if (value instanceof Map) refuse('is a Map: use Object.fromEntries(map), or [...map]');
  if (value instanceof Set) refuse('is a Set: use [...set]');
  if (value instanceof Error) refuse('is an Error: throw it, or use its message');
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) refuse('is binary: use Array.from or a string');
  if (value instanceof RegExp || value instanceof WeakMap || value instanceof WeakSet) refuse(`is a ${value.constructor.name}, which JSON cannot represent`);
  if (value instanceof Number || value instanceof String || value instanceof Boolean) return plain(value.valueOf(), path, key, above);
  const inner = [...above, value];
  if (Array.isArray(value)) {
    const items = [];
    for (let i = 0; i < value.length; i++) items.push(plain(value[i], `${path}/${i}`, String(i), inner) ?? null);
    return items;
  }
  const made = {};
  for (const name of Object.keys(value)) {
    if (!name.isWellFormed()) refuse(`has the key ${JSON.stringify(name)}, which contains half of a surrogate pair`);
    const item = plain(value[name], `${path}/${name}`, name, inner);
    // An assignment to a key named __proto__ would set the prototype of the copy instead of a property.
    Object.defineProperty(made, name, { value: item, enumerable: true });
  }
  return made;
}
