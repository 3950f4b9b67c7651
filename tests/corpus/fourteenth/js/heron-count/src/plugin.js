// Collects the counts of a heron day from the hides of a wetland. A hide that does not answer is asked again.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Rounds of questions to the hides. The host has made its own retries within each round. */
const ROUNDS = 3;
const PASSING = new Set(['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'DEPENDENCY_UNAVAILABLE']);

/** Names by their written form. The table saves work within one run. */
const names = new Map();

step(
  'Heron.Day',
  {
    description: 'Collects the counts of the hides of a wetland on one day.',
    input: object({ wetland: string({ minLength: 1 }), hides: array(string({ minLength: 1 }), { minItems: 1, maxItems: 60 }) }),
    output: object({
      wetland: string(),
      collected_at: string(),
      species: array(object({ name: string(), birds: integer(), hides: integer() })),
      silent: array(string()),
    }),
    // The answers of the hides change, and the output has the time of the collection.
    determinism: 'external',
  },
  ({ wetland, hides }) => {
    const totals = new Map();
    let waiting = [...new Set(hides)];
    for (let round = 0; round < ROUNDS && waiting.length > 0; round += 1) {
      const answers = tools.callAll(waiting.map((hide) => ({ operator: 'Hide.Count', args: { wetland, hide } })));
      const again = [];
      answers.forEach(({ ok, failure }, at) => {
        if (failure === undefined) add(totals, ok.counts);
        else if (PASSING.has(failure.code)) again.push(waiting[at]);
        else throw new Failure(failure.code, `${waiting[at]}: ${failure.message}`);
      });
      waiting = again;
    }
    if (totals.size === 0 && waiting.length > 0) throw new Failure('DEPENDENCY_UNAVAILABLE', `no hide of ${wetland} answered`);
    const species = [...totals.entries()]
      .map(([name, { birds, hides: seen }]) => ({ name, birds, hides: seen }))
      .sort((a, b) => b.birds - a.birds || (a.name < b.name ? -1 : 1));
    return { wetland, collected_at: new Date().toISOString(), species, silent: waiting.sort() };
  },
);

function add(totals, counts) {
  for (const [written, birds] of Object.entries(counts)) {
    if (!Number.isInteger(birds) || birds < 0 || birds > 1e6) throw new Failure('INVALID_INPUT', `${written} was not counted`);
    const name = plain(written);
    const sum = totals.get(name) ?? { birds: 0, hides: 0 };
    totals.set(name, { birds: sum.birds + birds, hides: sum.hides + 1 });
  }
}

function plain(written) {
  let name = names.get(written);
  if (name === undefined) {
    name = written.toLowerCase().replace(/[^a-z]+/g, ' ').trim();
    names.set(written, name);
  }
  return name;
}
