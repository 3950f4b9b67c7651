// Draws the start waves of a city run.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const runner = object({ bib: integer({ minimum: 1 }), name: string({ minLength: 1, maxLength: 80 }) });
const wave = object({ wave: integer(), starts_at_minute: integer(), bibs: array(integer()) });

/** Brings a list into a random order, each order with the same chance. */
function shuffled(list) {
  const order = [...list];
  for (let last = order.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [order[last], order[other]] = [order[other], order[last]];
  }
  return order;
}

/** Cuts a list into parts whose sizes differ by one at most. */
function parts(list, count) {
  const made = [];
  for (let at = 0; at < count; at++) {
    made.push(list.slice(Math.floor((at * list.length) / count), Math.floor(((at + 1) * list.length) / count)));
  }
  return made;
}

function checkBibs(runners) {
  const seen = new Set();
  for (const { bib, name } of runners) {
    if (seen.has(bib)) throw new Failure('INVALID_INPUT', `bib ${bib} of ${name} is given twice`);
    seen.add(bib);
  }
}

step(
  'Wave.Draw',
  {
    description: 'Draws the start waves of a run and gives each wave its minute.',
    input: object({
      run: string({ minLength: 1, maxLength: 100 }),
      runners: array(runner, { minItems: 1, maxItems: 20000 }),
      waves: integer({ minimum: 1, maximum: 40 }),
      minutes_between: integer({ minimum: 1, maximum: 30 }),
    }),
    output: object({ run: string(), runners: integer(), waves: array(wave) }),
    // The draw differs between jobs.
    determinism: 'stable',
  },
  ({ run, runners, waves, minutes_between }) => {
    checkBibs(runners);
    if (waves > runners.length) {
      throw new Failure('INVALID_INPUT', `${waves} waves are too many for ${runners.length} runners`);
    }
    const drawn = shuffled(runners.map(({ bib }) => bib));
    console.log(`${run}: ${runners.length} runners in ${waves} waves`);
    return {
      run,
      runners: runners.length,
      waves: parts(drawn, waves).map((bibs, at) => ({
        wave: at + 1,
        starts_at_minute: at * minutes_between,
        // The start marshals read the bibs in rising order.
        bibs: bibs.sort((a, b) => a - b),
      })),
    };
  },
);
