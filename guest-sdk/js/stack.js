// Replaces places in the bundle of a plugin by places in its sources. `latch plugin build` adds the table of places.

/** Replaces each place of the bundle in a stack by the file and the line of the source. */
export function inSources(stack) {
  const table = globalThis.latchworkSourceLines;
  if (table === undefined) return stack;
  return stack.replace(/[^\s(@]*bundle\.js:(\d+):(\d+)/g, (whole, line, column) => {
    const at = source(table, Number(line), Number(column));
    return at === undefined ? whole : `${at.file}:${at.line}`;
  });
}

/** Returns the file and line of the function of the plugin that threw an error, as text, or an empty string. */
export function thrownAt(stack) {
  const own = /(?:^|[\s(@])((?!latchwork\/|node_modules\/)[^\s(@:]+\.[a-z]+:\d+)/m.exec(stack);
  return own === null || globalThis.latchworkSourceLines === undefined ? '' : own[1];
}

/** Finds the last entry of the table that is not behind the place. An entry has four numbers. */
function source({ sources, entries }, line, column) {
  let [low, high] = [0, entries.length / 4];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [atLine, atColumn] = [entries[4 * middle], entries[4 * middle + 1]];
    if (atLine < line || (atLine === line && atColumn <= column)) low = middle + 1;
    else high = middle;
  }
  if (low === 0) return undefined;
  const [atLine, , file, first] = entries.slice(4 * low - 4, 4 * low);
  return { file: sources[file], line: first + line - atLine };
}
