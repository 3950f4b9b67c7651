// Draws the winners of a village raffle.

import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const MOST = 2 ** 32;

step(
  'Raffle.Draw',
  {
    description: 'Draws winners among ticket holders. Each ticket has the same chance.',
    input: object({
      prizes: array(string({ minLength: 1 }), { maxItems: 50 }),
      holders: array(object({ name: string({ minLength: 1 }), tickets: integer({ minimum: 1, maximum: 20 }) }), { maxItems: 200 }),
    }),
    output: object({
      draw: string(),
      drawn_at: string(),
      winners: array(object({ prize: string(), name: string(), ticket: integer() })),
      left: array(string()),
    }),
    // Stable and not pure: the winners differ between jobs.
    determinism: 'stable',
  },
  ({ prizes, holders }, context) => {
    const tickets = holders.flatMap(({ name, tickets }) => Array.from({ length: tickets }, () => name)).map((name, at) => ({ name, ticket: at + 1 }));
    if (tickets.length === 0) throw new Failure('INVALID_INPUT', `no ticket was sold, as ${context.actor} should know`);
    shuffle(tickets);
    const won = new Set();
    const winners = [];
    const left = [...prizes];
    for (const { name, ticket } of tickets) {
      if (left.length === 0) break;
      if (won.has(name)) continue; // one prize for each person
      won.add(name);
      winners.push({ prize: left.shift(), name, ticket });
    }
    events.emit('raffle-drawn', { winners: [...won], at: Date.now() });
    console.log(`${winners.length} winners in job ${context.jobId}`);
    return { draw: crypto.randomUUID(), drawn_at: new Date().toISOString(), winners, left };
  },
);

/** Fisher-Yates. */
function shuffle(all) {
  for (let i = all.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [all[i], all[j]] = [all[j], all[i]];
  }
}

/** A uniform number below `bound`. Rejects the values above the last whole multiple, a bounded number of times. */
function below(bound) {
  const whole = MOST - (MOST % bound);
  let [value] = crypto.getRandomValues(new Uint32Array(1));
  for (let round = 0; value >= whole && round < 20; round++) [value] = crypto.getRandomValues(new Uint32Array(1));
  return value % bound;
}
