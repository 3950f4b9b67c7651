// Turns the paths of crates in a warehouse into the tree that the floor plan is drawn from.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { any, array, integer, object, string } = schema;

step(
  'Crate.Arrange',
  {
    description: 'Arranges crates in the tree of the places that their paths name.',
    input: object({ crates: array(object({ path: string({ maxLength: 400 }), weight_kg: integer({ minimum: 0, maximum: 5000 }) })) }),
    output: object({ places: array(any()), crates: integer(), weight_kg: integer() }),
  },
  ({ crates }) => {
    const root = place('');
    let weight = 0;
    for (const { path, weight_kg } of crates) {
      const parts = path.split('/').map((part) => part.trim()).filter(Boolean);
      if (parts.length === 0) throw new Failure('INVALID_INPUT', 'a crate has no place');
      let at = root;
      for (const part of parts) {
        at = below(at, part);
        at.weight_kg += weight_kg;
      }
      at.crates += 1;
      weight += weight_kg;
    }
    return { places: sorted(root), crates: crates.length, weight_kg: weight };
  },
);

function place(name) {
  return { name, crates: 0, weight_kg: 0, places: [] };
}

function below(at, name) {
  let found = at.places.find((one) => one.name === name);
  if (!found) {
    found = place(name);
    at.places.push(found);
  }
  return found;
}

/** Sorts the places below a place by name, level by level. */
function sorted(root) {
  const pending = [root];
  while (pending.length > 0) {
    const { places } = pending.pop();
    places.sort((a, b) => (a.name < b.name ? -1 : 1));
    pending.push(...places);
  }
  return root.places;
}
