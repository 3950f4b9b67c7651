import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

// An entry of the map has at most 64 KiB.
const PIECE = 60000;

const headOf = (id) => `draft/${id}`;
const pieceOf = (id, at) => `piece/${id}/${at}`;

function pieces(text) {
  const bytes = new TextEncoder().encode(text);
  const made = [];
  for (let at = 0; at < bytes.length; at += PIECE) made.push(bytes.slice(at, at + PIECE));
  return made;
}

function output(id, count) {
  return new Output({ draft: id, pieces: count }, { receipt: { draft: id } });
}

tool(
  'Patent.Keep',
  {
    description: 'Keeps the draft of a patent.',
    input: object({ title: string({ minLength: 1, maxLength: 300 }), text: string({ maxLength: 40000 }) }),
    output: object({ draft: string(), pieces: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      if (kv.get(headOf(key)) === undefined) return 'did-not-happen';
      return happened(output(key, pieces(args.text).length));
    },
    // Removes the head first, then the pieces of the text.
    compensate: (args, result, key) => {
      if (!kv.delete(headOf(key))) throw new Failure('POLICY_DENIED', 'the draft is missing');
      for (let at = 0; at < result.pieces; at += 1) {
        if (!kv.delete(pieceOf(key, at))) {
          throw new Failure('POLICY_DENIED', `piece ${at} of the draft is missing`, { applied: 'unknown' });
        }
      }
      return new Output({ draft: key, removed: true });
    },
  },
  (args, context) => {
    if (args.text.trim() === '') throw new Failure('INVALID_INPUT', 'the draft has no text');
    const id = context.externalKey;
    const made = pieces(args.text);
    try {
      made.forEach((piece, at) => kv.set(pieceOf(id, at), piece));
      // A draft is found by its head, which is written last.
      kv.set(headOf(id), JSON.stringify({ title: args.title, pieces: made.length }));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw new Failure(error.code, error.message, { applied: 'unknown' });
    }
    return output(id, made.length);
  },
);

tool(
  'Patent.Read',
  {
    description: 'Returns a draft.',
    input: object({ draft: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ title: string(), text: string() }),
    effects: ['read_only'],
  },
  (args) => {
    const head = kv.text(headOf(args.draft));
    if (head === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no draft ${args.draft}`);
    const { title, pieces: count } = JSON.parse(head);
    const bytes = [];
    for (let at = 0; at < count; at += 1) {
      const piece = kv.get(pieceOf(args.draft, at));
      if (piece === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `${args.draft} was removed`);
      for (const byte of piece) bytes.push(byte);
    }
    return { title, text: new TextDecoder().decode(Uint8Array.from(bytes)) };
  },
);
