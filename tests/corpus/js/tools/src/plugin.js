// Tools as people write them in JavaScript: each Bad one breaks a rule, the Good one beside it looks alike and is right.

import { happened, kv, schema, secrets, tool } from '../../../../../guest-sdk/js/index.js';

const { object, string, integer, any } = schema;
const note = object({ text: string() });
const kept = object({ key: string() });
const keyed = { description: 'Keeps a note.', input: note, output: kept, effects: ['internal_write'], idempotentByKeySeconds: 86_400 };
const asked = { description: 'Keeps a note.', input: note, output: kept, effects: ['internal_write'] };
const reads = { description: 'Looks at a note.', input: note, output: any() };

// Under another key at another time: after a crash the note is there twice.
tool('Bad.Keyed', keyed, ({ text }) => {
  const key = `note-${Date.now()}`;
  kv.set(key, text);
  return { key };
});
tool('Good.Keyed', keyed, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// The second try finds the first one's note and gives up.
tool('Bad.Again', keyed, ({ text }, context) => {
  if (kv.get(context.externalKey)) throw new Error('it is there already');
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// Finds the call, and gives another result than the call did.
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

// Asked whether it happened, it says so without a look.
tool('Bad.Invents', { ...asked, reconcile: (_, key) => happened({ key }) }, ({ text }, context) => {
  kv.set(context.externalKey, text);
  return { key: context.externalKey };
});

// Declares that it reads only.
tool('Bad.Counts', reads, ({ text }) => {
  kv.set(text, String(Number(kv.text(text) ?? 0) + 1));
  return {};
});
tool('Good.Counts', reads, ({ text }) => ({ seen: Number(kv.text(text) ?? 0) }));

// Whoever reads the answer reads the token.
tool('Bad.Tells', reads, () => ({ asked_with: `Bearer ${secrets.get('TOKEN')}` }));
tool('Good.Tells', reads, () => ({ asked_with: secrets.get('TOKEN') ? 'a token' : 'nothing' }));

// A map that nobody granted it.
tool('Bad.Reaches', reads, ({ text }) => {
  try {
    return { found: kv.get(text) !== undefined };
  } catch {
    return { found: false };
  }
});

// A field that the schema wants is missing.
tool('Bad.Schema', { ...reads, output: object({ length: integer() }) }, ({ text }) => ({ len: text.length }));
tool('Good.Schema', { ...reads, output: object({ length: integer() }) }, ({ text }) => ({ length: text.length }));
