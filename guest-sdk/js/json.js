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

/** The JSON text of a value; throws a RangeError that names the place of a number JSON cannot hold exactly. */
export function stringify(value) {
  const refuse = (path, why) => {
    throw new RangeError(`${path || 'the value'} ${why}`);
  };
  const check = (value, path) => {
    if (typeof value === 'number') {
      if (!Number.isFinite(value)) refuse(path, `is ${value}, which JSON does not have`);
      if (Number.isInteger(value) && !Number.isSafeInteger(value) && Math.abs(value) < 1e21) {
        refuse(path, `is ${value}: integers of 2^53 and more are rounded; use a string`);
      }
    } else if (typeof value === 'bigint') {
      refuse(path, `is the BigInt ${value}: use a number below 2^53 or a string`);
    } else if (Array.isArray(value)) {
      value.forEach((item, i) => check(item, `${path}/${i}`));
    } else if (value !== null && typeof value === 'object' && typeof value.toJSON !== 'function') {
      for (const key of Object.keys(value)) check(value[key], `${path}/${key}`);
    }
  };
  try {
    check(value, '');
  } catch (error) {
    // A value that holds itself: JSON.stringify says so better.
    if (error instanceof RangeError && /^\/|^the value /.test(error.message)) throw error;
  }
  return JSON.stringify(value) ?? 'null';
}
