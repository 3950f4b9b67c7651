// A console that writes log records.

import { show } from './show.js';

/** Returns a console that passes its records to `log(level, text)`. `elapsed()` returns milliseconds. */
export function makeConsole(log, elapsed) {
  const counts = new Map();
  const timers = new Map();
  let indent = '';

  const write = (level, values) => log(level, indent + format(values).replaceAll('\n', `\n${indent}`));
  const at = (level) => (...values) => write(level, values);
  const time = (label, values, end) => {
    if (!timers.has(label)) return write('warn', [`timer ${label} does not exist`]);
    write('info', [`${label}: ${elapsed() - timers.get(label)} ms`, ...values]);
    if (end) timers.delete(label);
  };
  const group = (...values) => {
    if (values.length > 0) write('info', values);
    indent += '  ';
  };
  return {
    log: at('info'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    debug: at('debug'),
    trace: (...values) => write('trace', [`${['Trace:', format(values)].join(' ').trim()}\n${new Error().stack ?? ''}`]),
    assert: (holds, ...values) => holds || write('error', [values.length > 0 ? 'Assertion failed:' : 'Assertion failed', ...values]),
    count(label = 'default') {
      counts.set(label, (counts.get(label) ?? 0) + 1);
      write('info', [`${label}: ${counts.get(label)}`]);
    },
    countReset: (label = 'default') => void counts.delete(label),
    dir: (value) => write('info', [value]),
    dirxml: at('info'),
    group,
    groupCollapsed: group,
    groupEnd: () => void (indent = indent.slice(2)),
    table: (rows, columns) => write('info', [table(rows, columns)]),
    time: (label = 'default') => void timers.set(label, elapsed()),
    timeLog: (label = 'default', ...values) => time(label, values, false),
    timeEnd: (label = 'default') => time(label, [], true),
    clear() {},
  };
}

/**
 * Formats values, separated by spaces. If the first value is a string, its marks %s, %d, %i, %f, %j, %o and %O
 * are replaced by the values that follow.
 */
function format(values) {
  const [first, ...rest] = values;
  if (typeof first !== 'string') return values.map(show).join(' ');
  const text = first.replace(/%[sdifjoOc%]/g, (mark) => {
    if (mark === '%%') return '%';
    if (rest.length === 0) return mark;
    const value = rest.shift();
    if (mark === '%c') return '';
    if (mark === '%d' || mark === '%i') return String(typeof value === 'bigint' ? value : mark === '%i' ? Number.parseInt(value, 10) : Number(value));
    return mark === '%f' ? String(Number(value)) : show(value);
  });
  return [text, ...rest.map(show)].join(' ');
}

/** Formats rows as a table, one line per row. */
function table(rows, columns) {
  if (rows === null || typeof rows !== 'object') return show(rows);
  const entries = rows instanceof Map ? [...rows] : Object.entries(rows);
  const cells = (row) => (row !== null && typeof row === 'object' ? row : { value: row });
  const names = columns ?? [...new Set(entries.flatMap(([, row]) => Object.keys(cells(row))))];
  const lines = [['', ...names], ...entries.map(([key, row]) => [key, ...names.map((name) => (name in cells(row) ? cells(row)[name] : ''))])];
  const shown = lines.map((line) => line.map(show));
  const widths = shown[0].map((_, i) => Math.max(...shown.map((line) => line[i].length)));
  return shown.map((line) => line.map((cell, i) => cell.padEnd(widths[i])).join('  ').trimEnd()).join('\n');
}
