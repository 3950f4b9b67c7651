// Minutes of the committees of a town. Minutes are too long for one entry of the map, so they are kept in sheets. The
// cover names the number of sheets. Readers begin with the cover.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

// A sheet of this length fits an entry also if each of its characters takes six bytes.
const SHEET = 6000;

const coverOf = (minutes) => `cover/${minutes}`;
const sheetOf = (minutes, number) => `sheet/${minutes}/${number}`;

// Cuts a text into sheets, between characters.
function cut(text) {
  const sheets = [];
  for (let start = 0; start < text.length; ) {
    let end = Math.min(start + SHEET, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    sheets.push(JSON.stringify([text.slice(start, end)]));
    start = end;
  }
  return sheets;
}

function cover(minutes) {
  const text = kv.text(coverOf(minutes));
  return text === undefined ? undefined : JSON.parse(text);
}

// Compares an entry with a text byte by byte, which is faster than reading the entry as a text.
function holds(name, text) {
  const found = kv.get(name);
  const bytes = new TextEncoder().encode(text);
  return found !== undefined && found.length === bytes.length && bytes.every((byte, at) => found[at] === byte);
}

const sizeOf = (sheets, characters) => `${sheets} sheets, ${characters} characters`;
const change = (minutes, operation, version) => ({ resourceType: 'minutes', resourceId: minutes, operation, version });

function kept(minutes, text) {
  const sheets = cut(text).length;
  return new Output({ minutes, sheets }, { receipt: { minutes }, changes: [change(minutes, 'create', sizeOf(sheets, text.length))] });
}

// Runs a part of a call that follows its first write.
function later(write) {
  try {
    return write();
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure;
    throw new Failure(failure.code, failure.message, { applied: 'unknown' });
  }
}

tool(
  'Minutes.Keep',
  {
    description: 'Keeps the minutes of a meeting.',
    input: object({ committee: string({ minLength: 1, maxLength: 80 }), text: string({ minLength: 1, maxLength: 16000 }) }),
    output: object({ minutes: string(), sheets: integer() }),
    effects: ['internal_write'],
    reconcile: ({ text }, key) => (cover(key) === undefined ? 'did-not-happen' : happened(kept(key, text))),
    verify: ({ resourceId, version }) => {
      const found = cover(resourceId);
      if (found === undefined) return 'the minutes are missing';
      const size = sizeOf(found.sheets, found.characters);
      return size === version || `the minutes have ${size}`;
    },
    compensate: ({ committee, text }, result, key) => {
      const found = cover(key);
      const sheets = cut(text);
      const unchanged =
        found !== undefined &&
        found.committee === committee &&
        found.sheets === sheets.length &&
        sheets.every((sheet, number) => holds(sheetOf(key, number), sheet));
      if (!unchanged || !kv.delete(coverOf(key))) throw new Failure('POLICY_DENIED', 'the minutes were changed or removed');
      later(() => {
        for (const number of sheets.keys()) {
          if (!kv.delete(sheetOf(key, number))) throw new Failure('POLICY_DENIED', `sheet ${number + 1} is missing`);
        }
      });
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ committee, text }, { externalKey }) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', 'the minutes are blank');
    const sheets = cut(text);
    kv.set(sheetOf(externalKey, 0), sheets[0]);
    later(() => {
      sheets.slice(1).forEach((sheet, rest) => kv.set(sheetOf(externalKey, rest + 1), sheet));
      kv.set(coverOf(externalKey), JSON.stringify({ committee, sheets: sheets.length, characters: text.length }));
    });
    return kept(externalKey, text);
  },
);

tool(
  'Minutes.Page',
  {
    description: 'Reads one sheet of some minutes. The first sheet is number 1.',
    input: object({ minutes: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }), sheet: integer({ minimum: 1, maximum: 1000 }) }),
    output: object({ committee: string(), text: string() }),
  },
  ({ minutes, sheet }) => {
    const found = cover(minutes);
    if (found === undefined) throw new Failure('INVALID_INPUT', `there are no minutes ${minutes}`);
    if (sheet > found.sheets) throw new Failure('INVALID_INPUT', `the minutes have ${found.sheets} sheets`);
    const text = kv.text(sheetOf(minutes, sheet - 1));
    if (text === undefined) throw new Failure('DEPENDENCY_UNAVAILABLE', `sheet ${sheet} is being removed`);
    return { committee: found.committee, text: JSON.parse(text)[0] };
  },
);
