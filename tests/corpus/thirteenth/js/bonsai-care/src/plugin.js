// Keeps what was done to the trees of a bonsai collection.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, oneOf, optional, string } = schema;

const tree = string({ minLength: 1, maxLength: 60 });

const entryOf = (kind, key) => `${kind}/${key}`;

/** The answer of a call, from the text of its entry. */
function kept(kind, key, text) {
  const id = entryOf(kind, key);
  const { at } = JSON.parse(text);
  return new Output({ entry: id, at }, { changes: [{ resourceType: kind, resourceId: id, operation: 'create', version: at }] });
}

function store(kind, key, facts) {
  const text = JSON.stringify({ ...facts, at: new Date().toISOString() });
  kv.set(entryOf(kind, key), text);
  return kept(kind, key, text);
}

const find = (kind) => (args, key) => {
  const text = kv.text(entryOf(kind, key));
  return text === undefined ? 'did-not-happen' : happened(kept(kind, key, text));
};

const output = object({ entry: string(), at: string() });

tool(
  'Bonsai.Prune',
  {
    description: 'Records that a tree was pruned.',
    input: object({ tree, branches: integer({ minimum: 1, maximum: 500 }), wired: optional(boolean()) }),
    output,
    effects: ['internal_write'],
    reconcile: find('prune'),
    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the entry is missing';
      return JSON.parse(text).at === version || 'the entry was written again';
    },
  },
  ({ tree, branches, wired = false }, context) => {
    if (tree.trim() === '') throw new Failure('INVALID_INPUT', 'the tree has no name');
    return store('prune', context.externalKey, { tree, branches, wired });
  },
);

tool(
  'Bonsai.Repot',
  {
    description: 'Records that a tree got a new pot and new soil.',
    input: object({ tree, pot_cm: integer({ minimum: 5, maximum: 120 }), soil: oneOf('akadama', 'kanuma', 'pumice', 'mix') }),
    output,
    effects: ['internal_write'],
    reconcile: find('repot'),
  },
  ({ tree, pot_cm, soil }, context) => {
    if (tree.trim() === '') throw new Failure('INVALID_INPUT', 'the tree has no name');
    if (soil === 'kanuma' && !/azalea|satsuki/i.test(tree)) console.warn(`${tree}: kanuma is for azaleas`);
    return store('repot', context.externalKey, { tree, pot_cm, soil });
  },
);
