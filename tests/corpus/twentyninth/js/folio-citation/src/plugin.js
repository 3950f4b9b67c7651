// Cites lines of a folio. The catalogue names the digest of the transcription, so a citation always shows the text that
// the catalogue was made from.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const ROUNDS = [];
const START = [];
for (let n = 2; ROUNDS.length < 64; n++) {
  let prime = true;
  for (let d = 2; d * d <= n; d++) if (n % d === 0) prime = false;
  if (!prime) continue;
  const fraction = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
  if (START.length < 8) START.push(fraction(Math.sqrt(n)));
  ROUNDS.push(fraction(Math.cbrt(n)));
}

function sha256(text) {
  const data = [...new TextEncoder().encode(text)];
  const bits = data.length * 8;
  data.push(0x80);
  while (data.length % 64 !== 56) data.push(0);
  for (let shift = 56; shift >= 0; shift -= 8) data.push(Math.floor(bits / 2 ** shift) % 256);
  const turn = (x, by) => (x >>> by) | (x << (32 - by));
  const state = [...START];
  for (let block = 0; block < data.length; block += 64) {
    const w = [];
    for (let i = 0; i < 64; i++) {
      if (i < 16) {
        const at = block + 4 * i;
        w.push((data[at] << 24) | (data[at + 1] << 16) | (data[at + 2] << 8) | data[at + 3]);
      } else {
        const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
        const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
        w.push((w[i - 16] + s0 + w[i - 7] + s1) | 0);
      }
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
    }
    [a, b, c, d, e, f, g, h].forEach((value, i) => (state[i] = (state[i] + value) | 0));
  }
  return state.map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
}

step(
  'Folio.Cite',
  {
    description: 'Cites lines of the transcription of a folio.',
    input: object({
      folio: string({ minLength: 1, maxLength: 40 }),
      sha256: string({ pattern: '^[0-9a-f]{64}$' }),
      first: integer({ minimum: 1, maximum: 500 }),
      last: integer({ minimum: 1, maximum: 500 }),
    }),
    output: object({ lines: array(string()), citation: string() }),
  },
  ({ folio, sha256: digest, first, last }) => {
    if (last < first) throw new Failure('INVALID_INPUT', 'the last line is before the first');
    let page;
    try {
      page = tools.call('Transcripts.Read', { folio });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure('MISSING_REQUIRED_CONTEXT', `${folio} cannot be read as it was catalogued`);
    }
    // The digest fixes what is cited: another transcription is no answer.
    if (typeof page?.text !== 'string' || sha256(page.text) !== digest) {
      throw new Failure('MISSING_REQUIRED_CONTEXT', `${folio} cannot be read as it was catalogued`);
    }
    const all = page.text.split('\n');
    if (last > all.length) throw new Failure('INVALID_INPUT', `${folio} has ${all.length} lines`);
    const range = first === last ? `l. ${first}` : `ll. ${first}-${last}`;
    const by = typeof page.transcriber === 'string' && page.transcriber !== '' ? `, tr. ${page.transcriber}` : '';
    return { lines: all.slice(first - 1, last), citation: `${folio}, ${range}${by}` };
  },
);
