import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const deed = object({
  number: string({ minLength: 1 }),
  grantor: string(),
  grantee: string(),
  year: integer({ minimum: 1000, maximum: 3000 }),
  prior: optional(string()),
});

/** Returns the chain of deeds that ends with `number`, the oldest deed first. */
function chain(number, register, visited) {
  const found = register.get(number);
  if (found === undefined) throw new Failure('INVALID_INPUT', `deed ${number} is cited but not in the register`);
  if (visited.has(number)) throw new Failure('INVALID_INPUT', `deed ${number} cites itself through its prior deeds`);
  visited.add(number);
  if (found.prior === undefined) return [found];
  const older = chain(found.prior, register, visited);
  older.push(found);
  return older;
}

/** Lists the places where a grantor was not the grantee of the prior deed. */
function breaks(deeds) {
  const list = [];
  for (let i = 1; i < deeds.length; i++) {
    const [before, after] = [deeds[i - 1], deeds[i]];
    if (before.grantee !== after.grantor) list.push(`${before.number} to ${after.number}: ${before.grantee} is not ${after.grantor}`);
    if (before.year > after.year) list.push(`${before.number} to ${after.number}: the years run backward`);
  }
  return list;
}

step(
  'Deed.Abstract',
  {
    description: 'Follows the prior deeds of a parcel back to the first grant and lists breaks of the title.',
    input: object({ latest: string({ minLength: 1 }), register: array(deed, { minItems: 1 }) }),
    output: object({ owner: string(), root: string(), length: integer(), links: array(string()), breaks: array(string()) }),
  },
  (input) => {
    const register = new Map();
    for (const entry of input.register) {
      if (register.has(entry.number)) throw new Failure('INVALID_INPUT', `deed ${entry.number} is in the register twice`);
      register.set(entry.number, entry);
    }
    const deeds = chain(input.latest, register, new Set());
    return {
      owner: deeds.at(-1).grantee,
      root: deeds[0].number,
      length: deeds.length,
      links: deeds.map(({ number, year, grantor, grantee }) => `${year} ${number}: ${grantor} to ${grantee}`),
      breaks: breaks(deeds),
    };
  },
);
