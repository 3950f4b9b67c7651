// Distances of the reaches of a river to its mouth, for the register of weirs.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

step(
  'River.Measure',
  {
    description: 'Adds up the length of the water from the head of each reach to the mouth.',
    input: object({
      reaches: array(
        object({
          id: string({ minLength: 1, maxLength: 20 }),
          into: nullable(string({ minLength: 1, maxLength: 20 })),
          metres: integer({ minimum: 1, maximum: 1000000 }),
        }),
        { maxItems: 5000 },
      ),
    }),
    output: object({ distances: array(object({ id: string(), metres: integer() })), longest: nullable(string()) }),
  },
  ({ reaches }) => {
    const byId = new Map();
    for (const reach of reaches) {
      if (byId.has(reach.id)) throw new Failure('INVALID_INPUT', `reach ${reach.id} is listed twice`);
      byId.set(reach.id, reach);
    }
    const known = new Map();
    const under = new Set();
    const distance = (id) => {
      if (known.has(id)) return known.get(id);
      if (under.has(id)) throw new Failure('INVALID_INPUT', `reach ${id} flows into itself`);
      const reach = byId.get(id);
      if (reach === undefined) throw new Failure('INVALID_INPUT', `reach ${id} is not in the register`);
      under.add(id);
      const metres = reach.metres + (reach.into === null ? 0 : distance(reach.into));
      under.delete(id);
      known.set(id, metres);
      return metres;
    };
    const distances = reaches.map(({ id }) => ({ id, metres: distance(id) }));
    let longest = null;
    for (const { id, metres } of distances) if (longest === null || metres > known.get(longest)) longest = id;
    return { distances, longest };
  },
);
