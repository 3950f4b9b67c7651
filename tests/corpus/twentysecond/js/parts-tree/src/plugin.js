import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, optional, string } = schema;

const number = () => string({ pattern: '^[A-Z0-9-]{1,20}$' });

/** Puts each row under its parent. Returns the root of the tree. */
function assemble(rows) {
  const nodes = new Map();
  for (const { part, name, quantity } of rows) {
    if (nodes.has(part)) throw new Failure('INVALID_INPUT', `part ${part} is listed twice`);
    nodes.set(part, { part, name, quantity, parts: [] });
  }
  const roots = [];
  for (const { part, parent } of rows) {
    if (parent === undefined) {
      roots.push(nodes.get(part));
      continue;
    }
    const above = nodes.get(parent);
    if (above === undefined) throw new Failure('INVALID_INPUT', `part ${part}: its parent ${parent} is not in the list`);
    above.parts.push(nodes.get(part));
  }
  if (roots.length !== 1) throw new Failure('INVALID_INPUT', `a machine has one root, the list has ${roots.length}`);
  return roots[0];
}

/** Counts parts and levels. Keeps the pending parts in a list, because assemblies can be deep. */
function measure(root) {
  const pending = [[root, 1]];
  let [count, levels] = [0, 0];
  while (pending.length > 0) {
    const [node, level] = pending.pop();
    count += 1;
    levels = Math.max(levels, level);
    node.parts.sort((a, b) => (a.part < b.part ? -1 : 1));
    for (const child of node.parts) pending.push([child, level + 1]);
  }
  return { count, levels };
}

step(
  'Parts.Assemble',
  {
    description: 'Turns the flat parts list of a machine into the tree of its assemblies.',
    input: object({
      rows: array(
        object({
          part: number(),
          parent: optional(number()),
          name: string({ minLength: 1, maxLength: 60 }),
          quantity: integer({ minimum: 1, maximum: 10000 }),
        }),
        { minItems: 1, maxItems: 500 },
      ),
    }),
    output: object({ machine: any(), count: integer(), levels: integer() }),
  },
  ({ rows }) => {
    const machine = assemble(rows);
    const { count, levels } = measure(machine);
    // A loop of parents has no root, so its parts are not reached.
    if (count !== rows.length) throw new Failure('INVALID_INPUT', `${rows.length - count} parts contain each other`);
    return { machine, count, levels };
  },
);
