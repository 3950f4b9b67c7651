import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, object, optional, string } = schema;

const deskEntry = (desk) => `desk:${desk}`;
const earlierEntry = (key) => `earlier:${key}`;

function read(entry) {
  const text = kv.text(entry);
  return text === undefined ? undefined : JSON.parse(text);
}

function assigned(desk, person, key, replaced) {
  return new Output(
    { desk, person, replaced },
    {
      receipt: { desk, key },
      changes: [{ resourceType: 'desk', resourceId: desk, operation: 'update', version: key }],
    },
  );
}

// The part of an assignment that an undo puts back.
function kept(entry) {
  if (entry === undefined) return null;
  const { person, until, key } = entry;
  return { person, until, key };
}

tool(
  'Desk.Assign',
  {
    description: 'Assigns a desk of the office to a person, in place of an earlier assignment.',
    input: object({
      desk: string({ pattern: '^[A-Z][0-9]{1,3}$' }),
      person: string({ minLength: 1, maxLength: 80 }),
      until: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
      equipment: optional(string({ maxLength: 300 })),
    }),
    output: object({ desk: string(), person: string(), replaced: nullable(string()) }),
    effects: ['internal_write'],
    reconcile: ({ desk, person }, key) => {
      const earlier = read(earlierEntry(key));
      // The earlier assignment is kept before the desk is changed.
      if (earlier === undefined) return 'did-not-happen';
      if (read(deskEntry(desk))?.key !== key) return 'unknown';
      return happened(assigned(desk, person.trim(), key, earlier?.person ?? null));
    },
    verify: ({ resourceId, version }) => {
      const entry = read(deskEntry(resourceId));
      if (entry === undefined) return 'the desk is free';
      return entry.key === version || `the desk is assigned to ${entry.person}`;
    },
    compensate: ({ desk }, result, key) => {
      if (read(deskEntry(desk))?.key !== key) {
        throw new Failure('POLICY_DENIED', `the desk ${desk} was assigned again since`);
      }
      const earlier = read(earlierEntry(key));
      if (earlier === undefined) throw new Failure('POLICY_DENIED', 'the earlier assignment is not known any more');
      const change = { resourceType: 'desk', resourceId: desk };
      if (earlier === null) {
        kv.delete(deskEntry(desk));
        return new Output(null, { changes: [{ ...change, operation: 'delete' }] });
      }
      kv.set(deskEntry(desk), JSON.stringify(earlier));
      return new Output(null, { changes: [{ ...change, operation: 'update', version: earlier.key }] });
    },
  },
  ({ desk, person, until, equipment = '' }, { externalKey }) => {
    const name = person.trim();
    if (name === '') throw new Failure('INVALID_INPUT', 'the person has no name');
    const earlier = kept(read(deskEntry(desk)));
    kv.set(earlierEntry(externalKey), JSON.stringify(earlier));
    const entry = { person: name, until, equipment: equipment.trim(), key: externalKey };
    kv.set(deskEntry(desk), JSON.stringify(entry));
    return assigned(desk, name, externalKey, earlier?.person ?? null);
  },
);

tool(
  'Desk.Show',
  {
    description: 'Shows the assignment of a desk.',
    input: object({ desk: string({ pattern: '^[A-Z][0-9]{1,3}$' }) }),
    output: object({ person: nullable(string()), until: optional(string()), equipment: optional(string()) }),
    effects: ['read_only'],
  },
  ({ desk }) => {
    const entry = read(deskEntry(desk));
    if (entry === undefined) return { person: null };
    return { person: entry.person, until: entry.until, equipment: entry.equipment };
  },
);
