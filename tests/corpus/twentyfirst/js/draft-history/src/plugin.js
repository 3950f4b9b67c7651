import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const id = (more = {}) => string({ minLength: 1, maxLength: 64, ...more });

// Numbers the drafts: a first draft has the generation 1, and every other draft one more than its parent.
class Generations {
  constructor(drafts) {
    this.byId = new Map();
    this.known = new Map();
    this.open = new Set();
    for (const draft of drafts) {
      if (this.byId.has(draft.id)) throw new Failure('INVALID_INPUT', `the draft ${draft.id} is listed twice`);
      this.byId.set(draft.id, draft);
    }
  }

  of(draft) {
    const known = this.known.get(draft.id);
    if (known !== undefined) return known;
    if (this.open.has(draft.id)) throw new Failure('INVALID_INPUT', `the draft ${draft.id} is its own ancestor`);
    this.open.add(draft.id);
    const generation = draft.parent === undefined ? 1 : 1 + this.of(this.parent(draft));
    this.open.delete(draft.id);
    this.known.set(draft.id, generation);
    return generation;
  }

  parent(draft) {
    const parent = this.byId.get(draft.parent);
    if (parent === undefined) {
      throw new Failure('INVALID_INPUT', `the parent ${draft.parent} of the draft ${draft.id} is not listed`);
    }
    return parent;
  }
}

step(
  'Drafts.Number',
  {
    description: 'Numbers the saved drafts of a text by their distance from the first one, and finds open ends.',
    input: object({
      drafts: array(object({ id: id(), parent: optional(id()), words: integer({ minimum: 0, maximum: 1_000_000 }) }), {
        minItems: 1,
        maxItems: 5000,
      }),
    }),
    output: object({
      drafts: array(object({ id: string(), generation: integer() })),
      ends: array(string()),
      longest: integer(),
      words: integer(),
    }),
  },
  ({ drafts }) => {
    const generations = new Generations(drafts);
    // The newest drafts are listed first.
    const numbered = drafts.map((draft) => ({ id: draft.id, generation: generations.of(draft) }));
    const continued = new Set(drafts.map(({ parent }) => parent));
    const ends = drafts.filter(({ id }) => !continued.has(id)).map(({ id }) => id);
    return {
      drafts: numbered,
      ends,
      longest: numbered.reduce((most, { generation }) => Math.max(most, generation), 0),
      words: drafts.reduce((most, { words }) => Math.max(most, words), 0),
    };
  },
);
