// Converts values to text for people. Thrown and printed values are formatted here, so no function may throw.

const DEPTH = 6;

/** Converts any value to text. A string is returned unchanged. */
export function show(value) {
  try {
    return typeof value === 'string' ? value : shown(value, []);
  } catch {
    // Reached if the value throws when its properties are read.
    return Object.prototype.toString.call(value);
  }
}

function shown(value, above) {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `[function ${value.name || 'anonymous'}]`;
  if (value === null || typeof value !== 'object') return String(value);
  if (above.includes(value)) return '[circular]';
  if (above.length === DEPTH) return Array.isArray(value) ? '[…]' : '{…}';
  const inner = [...above, value];
  const list = (items) => items.map((item) => shown(item, inner)).join(',');
  if (value instanceof Error) return error(value, inner);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : JSON.stringify(value);
  if (value instanceof RegExp) return String(value);
  if (value instanceof Promise) return '[promise]';
  if (value instanceof Map) return `Map{${[...value].map(([key, item]) => `${shown(key, inner)}=>${shown(item, inner)}`).join(',')}}`;
  if (value instanceof Set) return `Set{${list([...value])}}`;
  if (Array.isArray(value)) return `[${list(value)}]`;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) return `${value.constructor.name}[${list([...value])}]`;
  return `{${Object.keys(value).map((key) => `${JSON.stringify(key)}:${shown(value[key], inner)}`).join(',')}}`;
}

function error(thrown, above) {
  let text = said(thrown);
  if (thrown.stack) text += `\n${thrown.stack}`;
  if (thrown.cause !== undefined) text += `\ncaused by ${shown(thrown.cause, above)}`;
  return text;
}

/** Returns the name and message of an error, and those of the errors that it aggregates. */
export function said(thrown, above = []) {
  if (!(thrown instanceof Error)) return show(thrown);
  const text = `${thrown.name}: ${thrown.message}`;
  if (!Array.isArray(thrown.errors) || thrown.errors.length === 0 || above.includes(thrown)) return text;
  return `${text} (${thrown.errors.map((one) => said(one, [...above, thrown])).join('; ')})`;
}
