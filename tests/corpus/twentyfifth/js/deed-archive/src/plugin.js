import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

// Characters of one sheet. Four bytes for a character fit the largest entry.
const SHEET = 15000;

const cover = (key) => `cover/${key}`;
const sheet = (key, number) => `sheet/${key}/${number}`;

function sheetsOf(text) {
  const characters = [...text];
  const sheets = [];
  for (let at = 0; at < characters.length; at += SHEET) sheets.push(characters.slice(at, at + SHEET).join(''));
  return sheets;
}

function versionOf(title, sheets) {
  let sum = 0x811c9dc5;
  for (const text of [title, ...sheets]) {
    for (let i = 0; i < text.length; i++) sum = Math.imul(sum ^ text.charCodeAt(i), 0x01000193) >>> 0;
    sum = Math.imul(sum ^ 0x1f, 0x01000193) >>> 0;
  }
  return `${sheets.length}-${sum.toString(16)}`;
}

function readCover(key) {
  const text = kv.text(cover(key));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The sheets of a deed. A sheet that is missing is undefined. */
function readSheets(key, count) {
  // Each sheet begins with a colon, so that its own first character is kept as it is.
  return Array.from({ length: count }, (_, number) => kv.text(sheet(key, number))?.slice(1));
}

function change(key, operation, version) {
  return { resourceType: 'deed', resourceId: key, operation, version };
}

function filed(key, title, sheets) {
  return new Output(
    { deed: key, sheets: sheets.length },
    { receipt: { deed: key }, changes: [change(key, 'create', versionOf(title, sheets))] },
  );
}

tool(
  'Deed.File',
  {
    description: 'Files a deed sheet by sheet, and its cover last.',
    input: object({ title: string({ minLength: 1, maxLength: 200 }), text: string({ maxLength: 60000 }) }),
    output: object({ deed: string(), sheets: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 86400,
    // A deed without its cover is read by no operator, and its sheets are written again by the next try.
    reconcile: (args, key) => (readCover(key) === undefined ? 'did-not-happen' : happened(filed(key, args.title, sheetsOf(args.text)))),
    verify: ({ resourceId, version }) => {
      const found = readCover(resourceId);
      if (found === undefined) return 'the cover is missing';
      const sheets = readSheets(resourceId, found.sheets);
      if (sheets.includes(undefined)) return `sheet ${sheets.indexOf(undefined)} is missing`;
      const now = versionOf(found.title, sheets);
      return now === version || `the deed has the version ${now}`;
    },
    compensate: (args, result, key) => {
      const found = readCover(key);
      if (found === undefined) throw new Failure('POLICY_DENIED', 'the cover is missing', { applied: 'no' });
      const sheets = readSheets(key, found.sheets);
      if (sheets.includes(undefined)) throw new Failure('POLICY_DENIED', 'a sheet is missing', { applied: 'no' });
      if (versionOf(found.title, sheets) !== versionOf(args.title, sheetsOf(args.text))) {
        throw new Failure('POLICY_DENIED', 'the deed was changed', { applied: 'no' });
      }
      if (!kv.delete(cover(key))) throw new Failure('POLICY_DENIED', 'the cover is missing', { applied: 'no' });
      for (let number = 0; number < sheets.length; number++) {
        if (!kv.delete(sheet(key, number))) throw new Failure('POLICY_DENIED', `sheet ${number} is missing`, { applied: 'unknown' });
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    const key = context.externalKey;
    const sheets = sheetsOf(args.text);
    if (args.text.trim() === '') throw new Failure('INVALID_INPUT', 'the deed is empty');
    let written = 0;
    try {
      for (const text of sheets) {
        kv.set(sheet(key, written), `:${text}`);
        written += 1;
      }
      kv.set(cover(key), JSON.stringify({ title: args.title, sheets: sheets.length }));
    } catch (error) {
      if (written > 0 && error instanceof Failure) {
        throw new Failure(error.code, `the deed was filed in part: ${error.message}`, { applied: 'unknown' });
      }
      throw error;
    }
    return filed(key, args.title, sheets);
  },
);

tool(
  'Deed.Read',
  {
    description: 'Reads a deed that was filed.',
    input: object({ deed: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ found: boolean(), title: string(), text: string() }),
  },
  (args) => {
    const found = readCover(args.deed);
    if (found === undefined) return { found: false, title: '', text: '' };
    const sheets = readSheets(args.deed, found.sheets);
    if (sheets.includes(undefined)) throw new Failure('DEPENDENCY_UNAVAILABLE', 'the deed is not complete');
    return { found: true, title: found.title, text: sheets.join('') };
  },
);
