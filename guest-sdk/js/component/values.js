// What engines give differently.

/** A list<u8>: some engines give an array. The copy's buffer holds nothing else. */
export const bytes = (list) => Uint8Array.from(list);

/** A u64: QuickJS takes a number, StarlingMonkey a BigInt. */
export const long = LATCHWORK_ENGINE === 'starlingmonkey' ? BigInt : Number;

/** A result inside of a list: `{ tag, val }`. */
export const answers = ({ tag, val }) => (tag === 'ok' ? { ok: val } : { error: val });
