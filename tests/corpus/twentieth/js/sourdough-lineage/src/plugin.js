// Draws the lineage of sourdough cultures as a tree.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, nullable, object, optional, string } = schema;

/** A lineage with more generations is split by the baker. */
const GENERATIONS = 50;

const culture = object({
  name: string({ minLength: 1, maxLength: 60 }),
  fed_from: nullable(string({ minLength: 1, maxLength: 60 })),
  flour: optional(string({ maxLength: 40 })),
});

function byName(cultures) {
  const nodes = new Map();
  for (const { name, flour } of cultures) {
    if (nodes.has(name)) throw new Failure('INVALID_INPUT', `the culture ${name} is given twice`);
    nodes.set(name, { name, flour: flour ?? 'unknown', offspring: [] });
  }
  return nodes;
}

/** Counts the generations level by level. Returns the number of generations and of cultures that were reached. */
function measure(roots) {
  let generations = 0;
  let reached = 0;
  for (let level = roots; level.length > 0; level = level.flatMap(({ offspring }) => offspring)) {
    generations += 1;
    reached += level.length;
    if (generations > GENERATIONS) {
      throw new Failure('INVALID_INPUT', `the lineage has more than ${GENERATIONS} generations`);
    }
  }
  return { generations, reached };
}

step(
  'Culture.Lineage',
  {
    description: 'Arranges sourdough cultures as a tree, each below the culture that it was fed from.',
    input: object({ cultures: array(culture, { minItems: 1, maxItems: 500 }) }),
    output: object({ generations: integer(), cultures: integer(), oldest: array(any()) }),
  },
  ({ cultures }) => {
    const nodes = byName(cultures);
    const oldest = [];
    for (const { name, fed_from } of cultures) {
      const node = nodes.get(name);
      if (fed_from === null) {
        oldest.push(node);
        continue;
      }
      const parent = nodes.get(fed_from);
      if (parent === undefined) {
        throw new Failure('MISSING_REQUIRED_CONTEXT', `${name} was fed from ${fed_from}, which is not in the list`);
      }
      parent.offspring.push(node);
    }
    const { generations, reached } = measure(oldest);
    if (reached < cultures.length) {
      throw new Failure('INVALID_INPUT', `${cultures.length - reached} cultures descend from themselves`);
    }
    return { generations, cultures: cultures.length, oldest };
  },
);
