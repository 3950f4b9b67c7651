import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, nullable, object, string } = schema;

// A value of the map has at most 65,536 bytes. A text is kept in parts of this size.
const PART = 60000;

// The first line of a stored text names its form.
const FORM = 'card/1\n';

const headName = (ref) => `card/${ref}`;
const partName = (ref, part) => `part/${ref}/${part}`;

/** The answer of a call. It follows from the arguments and the key, so each function can make it. */
function kept(ref, args, bytes) {
  const result = { ref, title: args.title, bytes };
  const change = { resourceType: 'recipe-card', resourceId: ref, operation: 'create', version: String(bytes) };
  return new Output(result, { receipt: { ref }, changes: [change] });
}

function readHead(ref) {
  const text = kv.text(headName(ref));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Recipe.Keep',
  {
    description: 'Keeps the recipe card of a canteen kitchen.',
    input: object({
      title: string({ minLength: 1, maxLength: 100 }),
      text: string({ minLength: 1, maxLength: 20000 }),
    }),
    output: object({ ref: string(), title: string(), bytes: integer() }),
    effects: ['internal_write'],
    // The head is written last. Without a head the parts are not visible, and the next try replaces them.
    reconcile: (args, key) => {
      const head = readHead(key);
      return head === undefined ? 'did-not-happen' : happened(kept(key, args, head.bytes));
    },
    verify: ({ resourceId, version }) => {
      const head = readHead(resourceId);
      if (head === undefined) return 'the card is missing';
      return String(head.bytes) === version || `the card has ${head.bytes} bytes`;
    },
    compensate: (args, result, key) => {
      const head = readHead(key);
      if (head === undefined || !kv.delete(headName(key))) {
        throw new Failure('POLICY_DENIED', 'the card is no longer kept');
      }
      // No reader finds the card now. From here on a failure leaves a part of the undo.
      for (let part = 0; part < head.parts; part++) {
        if (!kv.delete(partName(key, part))) {
          throw new Failure('POLICY_DENIED', `part ${part} of the card is missing`, { applied: 'unknown' });
        }
      }
      const change = { resourceType: 'recipe-card', resourceId: key, operation: 'delete' };
      return new Output({ ref: key }, { changes: [change] });
    },
  },
  (args, context) => {
    const ref = context.externalKey;
    const all = new TextEncoder().encode(FORM + args.text);
    const parts = Math.ceil(all.length / PART);
    for (let part = 0; part < parts; part++) {
      kv.set(partName(ref, part), all.slice(part * PART, (part + 1) * PART));
    }
    kv.set(headName(ref), JSON.stringify({ title: args.title, parts, bytes: all.length }));
    return kept(ref, args, all.length);
  },
);

tool(
  'Recipe.Read',
  {
    description: 'Returns the title and the text of a card.',
    input: object({ ref: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ title: nullable(string()), text: nullable(string()) }),
    effects: ['read_only'],
  },
  ({ ref }) => {
    const head = readHead(ref);
    if (head === undefined) return { title: null, text: null };
    const all = new Uint8Array(head.bytes);
    for (let part = 0; part < head.parts; part++) {
      const bytes = kv.get(partName(ref, part));
      if (bytes === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `part ${part} of card ${ref} is missing`);
      all.set(bytes, part * PART);
    }
    return { title: head.title, text: new TextDecoder().decode(all).slice(FORM.length) };
  },
);
