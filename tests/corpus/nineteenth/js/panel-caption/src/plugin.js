// Keeps the captions of the panels in an exhibition.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, object, string } = schema;

const panel = string({ pattern: '^[a-z0-9-]{1,40}$' });

/** Name of the entry with the caption of a panel. */
const entry = (id) => `caption/${id}`;

tool(
  'Caption.Set',
  {
    description: 'Sets the caption of a panel and returns the caption that it had before.',
    input: object({ panel, text: string({ minLength: 1, maxLength: 2000 }) }),
    output: object({ panel: string(), previous: nullable(string()) }),
    effects: ['internal_write'],
    // Puts the earlier caption back, unless the panel has another caption by now.
    compensate: (args, key, result) => {
      const name = entry(args.panel);
      if (kv.text(name) !== args.text) {
        throw new Failure('POLICY_DENIED', `the caption of ${args.panel} was changed again`);
      }
      if (result.previous) kv.set(name, result.previous);
      else kv.delete(name);
      console.log(`took back the caption of ${args.panel} from ${key}`);
      return new Output({ panel: args.panel });
    },
  },
  ({ panel: id, text }) => {
    const clean = text.trim();
    if (clean === '' || clean !== text) {
      throw new Failure('INVALID_INPUT', `the caption of ${id} is empty or has spaces around it`);
    }
    const previous = kv.text(entry(id)) ?? null;
    kv.set(entry(id), text);
    return { panel: id, previous };
  },
);

tool(
  'Caption.Get',
  {
    description: 'Returns the caption of a panel.',
    input: object({ panel }),
    output: object({ panel: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ panel: id }) => {
    const text = kv.text(entry(id));
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `the panel ${id} has no caption`);
    return { panel: id, text };
  },
);
