import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

/** Characters in one part. A character has at most 4 bytes, so a part is well below the 64 KiB of an entry. */
const PART = 6000;

const headOf = (key) => `head:${key}`;
const partOf = (index, key) => `part:${index}:${key}`;

function partsOf(text) {
  const characters = [...text];
  const parts = [];
  for (let at = 0; at < characters.length; at += PART) parts.push(characters.slice(at, at + PART).join(''));
  return { parts, count: characters.length };
}

/** Check sum of a text (FNV-1a over its code units), as eight hexadecimal digits. */
function sumOf(text) {
  let sum = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return sum.toString(16).padStart(8, '0');
}

const headText = (permit, text, parts, characters) => JSON.stringify({ permit, parts, characters, sum: sumOf(text) });

/** Reads head and text of a scan. Undefined if there is no head, or a part is missing. */
function read(key) {
  const head = kv.text(headOf(key));
  if (head === undefined) return undefined;
  const texts = [];
  for (let index = 0; index < JSON.parse(head).parts; index++) {
    const part = kv.text(partOf(index, key));
    if (part === undefined) return undefined;
    texts.push(part);
  }
  return { head, text: texts.join('') };
}

/** Runs a change of the map that is not the first one of its call. If it fails, the call may have changed the map. */
function later(change) {
  try {
    return change();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, error.message, { applied: 'unknown', cause: error });
    throw error;
  }
}

function change(key, operation, version) {
  return { resourceType: 'scan', resourceId: key, operation, version };
}

function filed(key, head) {
  const { permit, parts, characters, sum } = JSON.parse(head);
  return new Output({ scan: key, permit, parts, characters }, { receipt: { scan: key, sum }, changes: [change(key, 'create', head)] });
}

tool(
  'Scan.File',
  {
    description: 'Files the text of a scanned building permit.',
    input: object({ permit: string({ pattern: '^[0-9]{4}/[0-9]{1,6}$' }), text: string({ minLength: 1, maxLength: 18000 }) }),
    output: object({ scan: string(), permit: string(), parts: integer(), characters: integer() }),
    effects: ['internal_write'],
    // The head is written last, and nothing reads parts without a head. Parts alone are no effect.
    reconcile: (args, key) => {
      const head = kv.text(headOf(key));
      return head === undefined ? 'did-not-happen' : happened(filed(key, head));
    },
    verify: ({ resourceId, version }) => {
      const scan = read(resourceId);
      if (scan === undefined) return 'the scan is missing, or a part of it';
      if (scan.head !== version) return `the scan has another head: ${scan.head}`;
      return sumOf(scan.text) === JSON.parse(version).sum || 'the scan has another text';
    },
    compensate: (args, result, key) => {
      const scan = read(key);
      if (scan === undefined) throw new Failure('POLICY_DENIED', 'the scan is missing, or a part of it');
      const head = headText(args.permit, args.text, result.parts, result.characters);
      if (scan.head !== head || scan.text !== args.text) throw new Failure('POLICY_DENIED', 'the scan was changed');
      if (!kv.delete(headOf(key))) throw new Failure('POLICY_DENIED', 'the scan was removed by another party');
      for (let index = 0; index < result.parts; index++) {
        if (!later(() => kv.delete(partOf(index, key)))) {
          throw new Failure('POLICY_DENIED', `part ${index} of the scan was removed by another party`, { applied: 'unknown' });
        }
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ permit, text }, context) => {
    const key = context.externalKey;
    const { parts, count } = partsOf(text);
    parts.forEach((part, index) => {
      const write = () => kv.set(partOf(index, key), part);
      if (index === 0) write();
      else later(write);
    });
    const head = headText(permit, text, parts.length, count);
    later(() => kv.set(headOf(key), head));
    return filed(key, head);
  },
);

tool(
  'Scan.Read',
  {
    description: 'Reads the text of a filed scan.',
    input: object({ scan: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ permit: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ scan }) => {
    const found = read(scan);
    if (found === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no complete scan ${scan}`);
    return { permit: JSON.parse(found.head).permit, text: found.text };
  },
);
