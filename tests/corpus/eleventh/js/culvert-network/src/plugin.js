import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, string } = schema;

const culvert = object({ id: string({ minLength: 1 }), into: nullable(string()), litres: integer({ minimum: 0, maximum: 1_000_000 }) });

step(
  'Culvert.Outfalls',
  {
    description: 'Sums up the flow at each outfall of a network of culverts.',
    input: object({ culverts: array(culvert, { minItems: 1, maxItems: 5000 }) }),
    output: object({
      outfalls: array(object({ id: string(), culverts: integer(), litres: integer(), longest: integer() })),
    }),
    determinism: 'pure',
  },
  ({ culverts }) => {
    const byId = new Map();
    for (const one of culverts) {
      if (byId.has(one.id)) throw new Failure('INVALID_INPUT', `the culvert ${one.id} is listed twice`);
      byId.set(one.id, one);
    }
    for (const { id, into } of culverts) {
      if (into !== null && !byId.has(into)) throw new Failure('INVALID_INPUT', `${id} flows into ${into}, which is not listed`);
    }

    // The place at which the water of a culvert leaves the network, and the number of culverts on its way.
    const route = ({ id, into }) => {
      if (into === null) return { outfall: id, length: 1 };
      const rest = route(byId.get(into));
      return { outfall: rest.outfall, length: rest.length + 1 };
    };

    const sums = new Map();
    for (const one of culverts) {
      const { outfall, length } = route(one);
      const sum = sums.get(outfall) ?? { id: outfall, culverts: 0, litres: 0, longest: 0 };
      sum.culverts += 1;
      sum.litres += one.litres;
      sum.longest = Math.max(sum.longest, length);
      sums.set(outfall, sum);
    }
    const outfalls = [...sums.values()].sort((a, b) => b.litres - a.litres || (a.id < b.id ? -1 : 1));
    return { outfalls };
  },
);
