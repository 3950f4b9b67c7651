// Keeps the notes of restorers about the damage of a fresco, in the map of the plugin.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const text = string({ minLength: 1, maxLength: 4000 });
const entry = (id) => `note/${id}`;

/** A short fingerprint of a text, by FNV-1a over its code units. */
function fingerprint(value) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < value.length; at += 1) hash = Math.imul(hash ^ value.charCodeAt(at), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}

function saved(id, note, operation) {
  const result = { id, characters: note.text.length };
  return new Output(result, { changes: [{ resourceType: 'fresco-note', resourceId: id, operation, version: fingerprint(JSON.stringify(note)) }] });
}

/** Checks a change of both operators when a job is resumed. */
function verify({ resourceId }) {
  return kv.get(entry(resourceId)) !== undefined || `the note ${resourceId} was removed`;
}

tool(
  'Fresco.Note',
  {
    description: 'Keeps a note about a damage under the key of the call.',
    input: object({ wall: string({ minLength: 1, maxLength: 60 }), damage: oneOf('crack', 'flaking', 'salt', 'damp'), text }),
    output: object({ id: string(), characters: integer() }),
    effects: ['internal_write'],
    verify,
  },
  ({ wall, damage, text: written }, context) => {
    const note = { wall, damage, text: written.trim() };
    if (note.text === '') throw new Failure('INVALID_INPUT', `the note about ${wall} is empty`);
    kv.set(entry(context.externalKey), JSON.stringify(note));
    return saved(context.externalKey, note, 'create');
  },
);

tool(
  'Fresco.Amend',
  {
    description: 'Replaces the text of a note.',
    input: object({ id: string({ minLength: 1, maxLength: 160 }), text }),
    output: object({ id: string(), characters: integer() }),
    effects: ['internal_write'],
    verify,
  },
  ({ id, text: written }) => {
    const kept = kv.text(entry(id));
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no note ${id}`);
    const note = { ...JSON.parse(kept), text: written.trim() };
    kv.set(entry(id), JSON.stringify(note));
    return saved(id, note, 'update');
  },
);
