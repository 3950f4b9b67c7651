import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, object, oneOf, string } = schema;

/** Rounds in which a busy dictionary is asked. */
const ROUNDS = 3;

const BUSY = ['RATE_LIMIT', 'NETWORK_TIMEOUT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE'];

/** Asks one dictionary a fixed number of times. Returns undefined if it stays busy. */
function ask(operator, args) {
  for (let round = 1; round <= ROUNDS; round++) {
    try {
      return tools.call(operator, args);
    } catch (error) {
      if (!(error instanceof Failure) || !BUSY.includes(error.code)) throw error;
      console.warn(`${operator} is busy in round ${round}: ${error.code}`);
    }
  }
  return undefined;
}

/** Removes repeated senses, and keeps the first place of each. */
function distinct(senses) {
  const seen = new Set();
  for (const sense of senses) seen.add(sense.trim());
  seen.delete('');
  return [...seen];
}

step(
  'Idiom.Lookup',
  {
    description: 'Looks an idiom up in the large dictionary, and in the small one if the large one is busy.',
    input: object({ idiom: string({ minLength: 1, maxLength: 200 }), language: oneOf('en', 'nl', 'pt') }),
    output: object({ idiom: string(), source: oneOf('large', 'small'), senses: array(string()) }),
    // Both dictionaries are edited every day.
    determinism: 'external',
  },
  (input) => {
    const idiom = input.idiom.trim().toLowerCase();
    if (idiom === '') throw new Failure('INVALID_INPUT', 'the idiom is blank');
    const large = ask('Idioms.Large', { idiom, language: input.language });
    if (large !== undefined) return { idiom, source: 'large', senses: distinct(large.senses) };
    const small = ask('Idioms.Small', { idiom, language: input.language });
    if (small === undefined) throw new Failure('DEPENDENCY_UNAVAILABLE', 'both dictionaries are busy');
    return { idiom, source: 'small', senses: distinct(small.senses) };
  },
);
