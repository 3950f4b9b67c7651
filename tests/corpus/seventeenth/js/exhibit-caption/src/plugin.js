// Captions of a museum: the text beside an exhibit, as the screens in the rooms show it.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, object, string } = schema;

/** Characters of an earlier caption in a result. */
const SHOWN = 160;

const place = (exhibit) => `caption/${exhibit}`;

const change = (exhibit, operation, version) => ({
  resourceType: 'caption',
  resourceId: exhibit,
  operation,
  version,
});

/** The beginning of a caption, cut between two characters. */
function shown(text) {
  const characters = [...text];
  return characters.length > SHOWN ? `${characters.slice(0, SHOWN).join('')}…` : text;
}

/** Checks that the caption of an exhibit is still the one that was recorded. */
function verify({ resourceId, version }) {
  const text = kv.text(place(resourceId));
  if (text === undefined) return `exhibit ${resourceId} has no caption`;
  return text === version || `exhibit ${resourceId} has another caption: ${shown(text)}`;
}

/** Puts the earlier caption back. */
function compensate({ exhibit, text }, { previous }) {
  if (kv.text(place(exhibit)) !== text) {
    throw new Failure('POLICY_DENIED', `the caption of exhibit ${exhibit} was changed since`);
  }
  if (previous === null) {
    if (!kv.delete(place(exhibit))) throw new Failure('POLICY_DENIED', `exhibit ${exhibit} has no caption any more`);
    return new Output(null, { changes: [change(exhibit, 'delete')] });
  }
  kv.set(place(exhibit), previous);
  return new Output(null, { changes: [change(exhibit, 'update', previous)] });
}

tool(
  'Caption.Write',
  {
    description: 'Writes the caption of an exhibit, and returns the caption that it replaces.',
    input: object({
      exhibit: string({ pattern: '^[A-Z]{1,3}[0-9]{1,5}$' }),
      text: string({ minLength: 1, maxLength: 4000 }),
    }),
    output: object({ exhibit: string(), previous: nullable(string()) }),
    effects: ['internal_write'],
    verify,
    compensate,
  },
  ({ exhibit, text }) => {
    if (text.trim() === '') throw new Failure('INVALID_INPUT', `the caption of exhibit ${exhibit} is blank`);
    const earlier = kv.text(place(exhibit));
    kv.set(place(exhibit), text);
    return new Output(
      { exhibit, previous: earlier === undefined ? null : shown(earlier) },
      { changes: [change(exhibit, earlier === undefined ? 'create' : 'update', text)] },
    );
  },
);

tool(
  'Caption.Read',
  {
    description: 'Returns the caption of an exhibit.',
    input: object({ exhibit: string({ minLength: 1, maxLength: 10 }) }),
    output: object({ exhibit: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ exhibit }) => {
    const text = kv.text(place(exhibit));
    if (text === undefined) throw new Failure('INVALID_INPUT', `exhibit ${exhibit} has no caption`);
    return { exhibit, text };
  },
);
