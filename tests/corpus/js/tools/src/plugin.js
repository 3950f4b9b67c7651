// Corpus of tools written in typical JavaScript. Each Bad tool breaks a rule of the checker. The Good tool
// next to it looks similar and breaks no rule.

import { happened, kv, schema, secrets, tool } from '../../../../../guest-sdk/js/index.js';

const { object, string, integer, any } = schema;
const note = object({ text: string() });
const kept = object({ key: string() });
const keyed = { description: 'Keeps a note.', input: note, output: kept, effects: ['internal_write'], idempotentByKeySeconds: 86_400 };
const asked = { description: 'Keeps a note.', input: note, output: kept, effects: ['internal_write'] };
const reads = { description: 'Looks at a note.', input: note, output: any() };

// The key contains the time, so a retry after a crash stores the note twice.
tool('Bad.Keyed', keyed, ({ text }) => {
  const key = `note-${Date.now()}`;
  kv.set(key, text);
  return { key };
});
tool('Good.Keyed', keyed, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// The second try finds the note of the first try and fails.
tool('Bad.Again', keyed, ({ text }, context) => {
  if (kv.get(context.externalKey)) throw new Error('it is there already');
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// Reconcile finds the call, but returns another result than the call returned.
const other = { reconcile: (_, key) => (kv.get(key) ? happened({ key: `found ${key}` }) : 'did-not-happen') };
tool('Bad.Other', { ...asked, ...other }, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});
const find = { reconcile: (_, key) => (kv.get(key) ? happened({ key }) : 'did-not-happen') };
tool('Good.Asked', { ...asked, ...find }, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// Answers "happened" without checking.
tool('Bad.Invents', { ...asked, reconcile: (_, key) => happened({ key }) }, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// The tool is declared read-only, but it writes to the key-value map.
tool('Bad.Counts', reads, ({ text }) => {
  kv.set(text, String(Number(kv.text(text) ?? 0) + 1));
  return {};
});
tool('Good.Counts', reads, ({ text }) => ({ seen: Number(kv.text(text) ?? 0) }));

// The result is recorded, so a token in the result is recorded too.
tool('Bad.Tells', reads, () => ({ asked_with: `Bearer ${secrets.get('TOKEN')}` }));
tool('Good.Tells', reads, () => ({ asked_with: secrets.get('TOKEN') ? 'a token' : 'nothing' }));

// The tool asks for a secret without a grant, and handles the refusal.
tool('Bad.Reaches', reads, () => {
  try {
    return { found: secrets.get('ADMIN_TOKEN') !== '' };
  } catch {
    return { found: false };
  }
});

// A field required by the schema is missing.
tool('Bad.Schema', { ...reads, output: object({ length: integer() }) }, ({ text }) => ({ len: text.length }));
tool('Good.Schema', { ...reads, output: object({ length: integer() }) }, ({ text }) => ({ length: text.length }));
