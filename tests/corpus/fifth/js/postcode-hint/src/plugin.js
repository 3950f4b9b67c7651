// Suggests the street names of a postcode. The list is made from the configuration, and the last suggestions are kept
// in the map to save the search.
import { config, Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

function remember(name, streets) {
  try {
    kv.set(name, JSON.stringify(streets));
  } catch (failure) {
    console.debug(`not remembered: ${failure.message}`);
  }
}

tool(
  'Postcode.Hint',
  {
    description: 'Suggests the street names of a postcode.',
    input: object({ postcode: string({ minLength: 3, maxLength: 10 }) }),
    output: object({ streets: array(string()) }),
    effects: ['read_only'],
  },
  ({ postcode }) => {
    const name = `hint/${postcode}`;
    const known = kv.text(name);
    if (known !== undefined) return { streets: JSON.parse(known) };
    const all = config.get('streets');
    if (all === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', 'the configuration has no streets');
    const streets = all.filter((street) => street.postcode === postcode).map((street) => street.name).sort();
    remember(name, streets);
    return { streets };
  },
);
