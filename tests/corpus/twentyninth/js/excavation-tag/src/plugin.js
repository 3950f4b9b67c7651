// Tags for the bags of an excavation. A tag has a drawn code and the time of its issue. Both are kept in the entry of
// the call, so everything that is asked later is answered from the entry.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

const entryName = (key) => `tag/${key}`;

function drawCode() {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join('');
}

/** The text of an entry. Its fields are always in this order, so two texts are equal if the tags are. */
function textOf({ trench, context_no: contextNo, materials, remark }, code, issuedAt) {
  return JSON.stringify({ code, issued_at: issuedAt, trench, context_no: contextNo, materials: [...materials].sort(), remark });
}

function tagOf(text, key) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Failure('SCHEMA_VALIDATION_FAILED', `${entryName(key)} is no tag`);
  }
}

const change = (key, operation, version) => ({ resourceType: 'tag', resourceId: entryName(key), operation, version });

function issued(text, key) {
  const tag = tagOf(text, key);
  return new Output(
    { code: tag.code, issued_at: tag.issued_at, line: `${tag.code} ${tag.trench}/${tag.context_no} ${tag.materials.join('+')}` },
    { receipt: { tag: entryName(key), code: tag.code }, changes: [change(key, 'create', text)] },
  );
}

tool(
  'Tag.Issue',
  {
    description: 'Issues the tag of a bag of finds.',
    input: object({
      trench: string({ pattern: '^[A-Z]{1,2}\\d{0,2}$' }),
      context_no: integer({ minimum: 1, maximum: 99999 }),
      materials: array(oneOf('bone', 'ceramic', 'flint', 'glass', 'metal', 'soil'), { minItems: 1, maxItems: 6 }),
      remark: string({ maxLength: 1000 }),
    }),
    output: object({ code: string(), issued_at: string(), line: string() }),
    effects: ['internal_write'],

    reconcile: (args, key) => {
      const text = kv.text(entryName(key));
      return text === undefined ? 'did-not-happen' : happened(issued(text, key));
    },

    verify: ({ resourceId, operation, version }) => {
      const text = kv.text(resourceId);
      if (operation === 'delete') return text === undefined || 'the tag is there again';
      if (text === undefined) return 'the tag was removed';
      return text === version || 'the entry of the tag was changed';
    },

    compensate: (args, result, key) => {
      const text = kv.text(entryName(key));
      if (text === undefined) throw new Failure('POLICY_DENIED', `the tag ${result.code} was removed by somebody else`);
      if (text !== textOf(args, result.code, result.issued_at)) {
        throw new Failure('POLICY_DENIED', `the entry of ${result.code} was changed since`);
      }
      if (!kv.delete(entryName(key))) throw new Failure('POLICY_DENIED', `the tag ${result.code} was removed by somebody else`);
      return new Output({ withdrawn: result.code }, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    if (new Set(args.materials).size !== args.materials.length) throw new Failure('INVALID_INPUT', 'a material is named twice');
    const text = textOf(args, drawCode(), new Date().toISOString());
    // The only write. The attempt is for the log alone.
    kv.set(entryName(context.externalKey), text);
    console.log(`a tag for ${args.trench}/${args.context_no}, attempt ${context.attempt}`);
    return issued(text, context.externalKey);
  },
);
