// Files the proofs of a print shop: first the sheet, then the card that makes it visible.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, nullable, object, string } = schema;

const sheetOf = (key) => `sheet/${key}`;
const cardOf = (key) => `card/${key}`;

function filed(key, card) {
  return new Output(
    { proof: key, title: card.title, words: card.words },
    { changes: [{ resourceType: 'proof', resourceId: key, operation: 'create', version: String(card.words) }] },
  );
}

/** Returns the card of a proof, or undefined if there is none. */
function cardAt(key) {
  const text = kv.text(cardOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Proof.File',
  {
    description: 'Files the text of a proof, and gives it a number.',
    input: object({ title: string({ minLength: 1, maxLength: 120 }), text: string({ minLength: 1 }) }),
    output: object({ proof: string(), title: string(), words: integer() }),
    effects: ['internal_write'],
    // A sheet without its card is of no use. Its room in the map is given back.
    reconcile: (args, key) => {
      const card = cardAt(key);
      if (card !== undefined) return happened(filed(key, card));
      if (kv.get(sheetOf(key)) !== undefined) discard(key);
      return 'did-not-happen';
    },
  },
  ({ title, text }, context) => {
    const words = text.split(/\s+/).filter(Boolean).length;
    if (words === 0) throw new Failure('INVALID_INPUT', 'the proof has no words');
    const key = context.externalKey;
    kv.set(sheetOf(key), text);
    const card = { title, words, filed: new Date().toISOString() };
    try {
      kv.set(cardOf(key), JSON.stringify(card));
    } catch (error) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the card was not filed: ${error.message}`, { applied: 'unknown' });
    }
    return filed(key, card);
  },
);

function discard(key) {
  try {
    kv.delete(sheetOf(key));
    console.log(`discarded the sheet of ${key}`);
  } catch (error) {
    console.warn(`the sheet of ${key} remains: ${error.message}`);
  }
}

tool(
  'Proof.Read',
  {
    description: 'Returns a filed proof.',
    input: object({ proof: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ found: boolean(), title: nullable(string()), text: nullable(string()) }),
    effects: ['read_only'],
  },
  ({ proof }) => {
    const card = cardAt(proof);
    if (card === undefined) return { found: false, title: null, text: null };
    return { found: true, title: card.title, text: kv.text(sheetOf(proof)) ?? null };
  },
);
