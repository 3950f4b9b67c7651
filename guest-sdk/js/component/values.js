// Values that engines represent differently.

/** Copies a list<u8> to a Uint8Array with a buffer of its own. Some engines represent the list as an array. */
export const bytes = (list) => Uint8Array.from(list);

/** Converts a number to a u64: QuickJS takes a number, StarlingMonkey a BigInt. */
export const long = LATCHWORK_ENGINE === 'starlingmonkey' ? BigInt : Number;

/** Converts a result `{ tag, val }` to `{ ok }` or `{ error }`. Results in a list have the form `{ tag, val }`. */
export const answers = ({ tag, val }) => (tag === 'ok' ? { ok: val } : { error: val });
