// Loading plan of a freight crate: chooses the goods with the greatest value that fit the permitted mass.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

/** Table of the best values: row i uses the first i goods, column w may weigh w kilograms. */
function table(goods, limit) {
  const rows = [new Uint32Array(limit + 1)];
  for (const { mass_kg: mass, value } of goods) {
    const above = rows[rows.length - 1];
    const row = Uint32Array.from(above);
    for (let w = mass; w <= limit; w++) {
      const taken = above[w - mass] + value;
      if (taken > row[w]) row[w] = taken;
    }
    rows.push(row);
  }
  return rows;
}

function chosen(goods, rows, limit) {
  const picked = [];
  let left = limit;
  for (let i = goods.length; i > 0; i--) {
    if (rows[i][left] === rows[i - 1][left]) continue;
    picked.unshift(goods[i - 1]);
    left -= goods[i - 1].mass_kg;
  }
  return picked;
}

step(
  'Crate.Plan',
  {
    description: 'Chooses the goods of a crate: the greatest value within the permitted mass.',
    input: object({
      crate: string({ minLength: 1 }),
      limit_kg: integer({ minimum: 1, maximum: 1000 }),
      goods: array(object({ label: string({ minLength: 1 }), mass_kg: integer({ minimum: 1 }), value: integer({ minimum: 1, maximum: 1_000_000 }) }), { maxItems: 60 }),
    }),
    output: object({ crate: string(), labels: array(string()), mass_kg: integer(), value: integer(), left_out: integer() }),
    determinism: 'pure',
  },
  ({ crate, limit_kg: limit, goods }) => {
    const labels = new Set();
    for (const { label } of goods) {
      if (labels.has(label)) throw new Failure('INVALID_INPUT', `${label} is in the list twice`);
      labels.add(label);
    }
    // The order of the list must not decide between equal plans.
    const sorted = [...goods].sort((a, b) => b.value - a.value || a.mass_kg - b.mass_kg || (a.label < b.label ? -1 : 1));
    const usable = sorted.filter(({ mass_kg: mass }) => mass <= limit);
    console.time(crate);
    const rows = table(usable, limit);
    const picked = chosen(usable, rows, limit);
    console.timeEnd(crate);
    const mass = picked.reduce((sum, { mass_kg: one }) => sum + one, 0);
    const value = picked.reduce((sum, { value: one }) => sum + one, 0);
    if (picked.length === 0) console.warn(`nothing fits ${crate}`);
    return { crate, labels: picked.map(({ label }) => label), mass_kg: mass, value, left_out: goods.length - picked.length };
  },
);
