// UTF-8 conversion for engines without TextEncoder and TextDecoder.

export class TextEncoder {
  get encoding() {
    return 'utf-8';
  }
  encode(text = '') {
    const bytes = [];
    for (const character of String(text)) {
      let code = character.codePointAt(0);
      if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd; // a lone surrogate
      if (code < 0x80) bytes.push(code);
      else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
      else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
    }
    return Uint8Array.from(bytes);
  }
}

export class TextDecoder {
  #fatal;
  constructor(label = 'utf-8', { fatal = false } = {}) {
    if (!/^utf-?8$/i.test(label)) throw new RangeError(`TextDecoder supports only utf-8, not ${label}`);
    this.#fatal = fatal;
  }
  get encoding() {
    return 'utf-8';
  }
  decode(input = new Uint8Array()) {
    const bytes = input instanceof ArrayBuffer ? new Uint8Array(input) : new Uint8Array(input.buffer, input.byteOffset, input.byteLength);
    const text = [];
    for (let i = 0; i < bytes.length; ) {
      const [length, code] = sequence(bytes, i);
      if (code < 0 && this.#fatal) throw new TypeError(`byte ${i} is not UTF-8`);
      if (!(i === 0 && code === 0xfeff)) text.push(String.fromCodePoint(code < 0 ? 0xfffd : code));
      i += length;
    }
    return text.join('');
  }
}

/** Returns length and code point of the sequence at `i`. The code point is -1 if the sequence is invalid. */
function sequence(bytes, i) {
  const first = bytes[i];
  if (first < 0x80) return [1, first];
  const [count, lowest] = first >= 0xc2 && first < 0xe0 ? [1, 0x80] : first >= 0xe0 && first < 0xf0 ? [2, 0x800] : first >= 0xf0 && first < 0xf5 ? [3, 0x10000] : [0, 0];
  if (count === 0) return [1, -1];
  let code = first & (0x3f >> count);
  for (let k = 1; k <= count; k++) {
    const byte = bytes[i + k];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return [k, -1];
    code = (code << 6) | (byte & 63);
  }
  const wrong = code < lowest || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff);
  return [count + 1, wrong ? -1 : code];
}
