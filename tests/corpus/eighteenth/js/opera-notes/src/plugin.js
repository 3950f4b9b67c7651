import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

const headOf = (id) => `rehearsal/${id}`;
const notesOf = (id) => `notes/${id}`;

tool(
  'Opera.Note',
  {
    description: 'Keeps the notes of the director after a rehearsal.',
    input: object({
      work: string({ minLength: 1, maxLength: 200 }),
      act: integer({ minimum: 1, maximum: 9 }),
      notes: array(object({ role: string({ maxLength: 80 }), text: string({ maxLength: 4000 }) }), {
        minItems: 1,
        maxItems: 100,
      }),
    }),
    output: object({ id: string(), notes: integer() }),
    effects: ['internal_write'],
    // The notes are written after the head, so a rehearsal with notes is complete.
    reconcile: (args, key) => {
      if (kv.get(notesOf(key)) === undefined) return kv.get(headOf(key)) === undefined ? 'did-not-happen' : 'unknown';
      return happened(new Output({ id: key, notes: args.notes.length }));
    },
  },
  (args, context) => {
    const id = context.externalKey;
    const roles = [...new Set(args.notes.map((note) => note.role))].sort();
    // The stage manager reads the head alone, for the list of rehearsals.
    kv.set(headOf(id), JSON.stringify({ work: args.work, act: args.act, roles }));
    kv.set(notesOf(id), JSON.stringify(args.notes));
    return new Output({ id, notes: args.notes.length });
  },
);

tool(
  'Opera.Head',
  {
    description: 'Returns the head of a rehearsal, or null.',
    input: object({ id: string({ minLength: 1, maxLength: 200 }) }),
    output: object({
      head: nullable(object({ work: string(), act: integer(), roles: array(string()) })),
    }),
    effects: ['read_only'],
  },
  (args) => {
    const text = kv.text(headOf(args.id));
    return { head: text === undefined ? null : JSON.parse(text) };
  },
);

tool(
  'Opera.Notes',
  {
    description: 'Returns the notes of one role in a rehearsal.',
    input: object({ id: string({ minLength: 1, maxLength: 200 }), role: string() }),
    output: object({ texts: array(string()) }),
    effects: ['read_only'],
  },
  (args) => {
    const text = kv.text(notesOf(args.id));
    if (text === undefined) throw new Failure('INVALID_INPUT', `there are no notes of ${args.id}`);
    return { texts: JSON.parse(text).filter((note) => note.role === args.role).map((note) => note.text) };
  },
);
