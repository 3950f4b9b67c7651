import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;
const PART = 4000;
const head = (key) => `head/${key}`;
const part = (key, n) => `part/${key}/${n}`;
const change = (key, operation, version) => ({ resourceType: 'essay', resourceId: key, operation, version });
/** An entry of the map has little room, so a long text is cut between its characters. */
function cut(text) {
  const characters = [...text];
  const parts = [];
  for (let at = 0; at < characters.length; at += PART) parts.push(characters.slice(at, at + PART).join(''));
  return parts;
}

function checksum(text) {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return `${text.length}-${h.toString(16).padStart(8, '0')}`;
}

function load(key) {
  const text = kv.text(head(key));
  return text === undefined ? undefined : JSON.parse(text);
}

/** Returns the text, or undefined if one of its parts is missing. */
function whole(key, count) {
  const parts = Array.from({ length: count }, (_, n) => kv.text(part(key, n)));
  return parts.includes(undefined) ? undefined : parts.map((one) => JSON.parse(one)).join('');
}

function kept(key, { title, parts, sum }) {
  return new Output({ essay: key, title, parts, sum }, { receipt: { essay: key, sum }, changes: [change(key, 'create', sum)] });
}

tool(
  'Essay.Store',
  {
    description: 'Keeps an essay of any usual length.',
    input: object({ title: string({ minLength: 1, maxLength: 200 }), text: string({ minLength: 1, maxLength: 40000 }) }),
    output: object({ essay: string(), title: string(), parts: integer(), sum: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const found = load(key);
      return found === undefined ? 'did-not-happen' : happened(kept(key, found));
    },
    verify: ({ resourceId, version }) => {
      const found = load(resourceId);
      const text = found && whole(resourceId, found.parts);
      if (text === undefined) return 'the essay or a part of it was removed';
      const sum = checksum(text);
      return sum === version || `the essay has the checksum ${sum}`;
    },
    compensate: (args, result, key) => {
      const text = whole(key, result.parts);
      if (load(key)?.sum !== result.sum || text === undefined || checksum(text) !== result.sum || !kv.delete(head(key))) {
        throw new Failure('POLICY_DENIED', 'the essay was changed or removed');
      }
      for (let n = 0; n < result.parts; n++) kv.delete(part(key, n));
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ title, text }, { externalKey }) => {
    const parts = cut(text);
    let begun = false;
    try {
      parts.forEach((one, n) => {
        kv.set(part(externalKey, n), JSON.stringify(one));
        begun = true;
      });
      // An essay exists once it has a head. Parts without a head are found by no reader.
      kv.set(head(externalKey), JSON.stringify({ title, parts: parts.length, sum: checksum(text) }));
    } catch (error) {
      if (!begun) throw error;
      throw new Failure(error.code ?? 'DEPENDENCY_UNAVAILABLE', `the essay was not kept: ${error.message}`, { applied: 'unknown' });
    }
    return kept(externalKey, { title, parts: parts.length, sum: checksum(text) });
  },
);
