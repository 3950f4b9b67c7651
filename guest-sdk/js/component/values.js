// Values that engines represent differently.

/** Copies a list<u8>, which is an array in some engines. The buffer of the copy holds nothing else. */
export const bytes = (list) => Uint8Array.from(list);

/** Converts a number to a u64: QuickJS takes a number, StarlingMonkey a BigInt. */
export const long = LATCHWORK_ENGINE === 'starlingmonkey' ? BigInt : Number;

/** Converts a result in a list, which is `{ tag, val }`, to `{ ok }` or `{ error }`. */
export const answers = ({ tag, val }) => (tag === 'ok' ? { ok: val } : { error: val });
