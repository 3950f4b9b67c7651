// Draws the order in which the jurors of a tea tasting get their cups.

import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const ROUNDS = 40;

step(
  'Tasting.Draw',
  {
    description: 'Draws an order of the teas for each juror in which few teas follow the same tea twice.',
    input: object({
      teas: array(string({ minLength: 1, maxLength: 60 }), { minItems: 2, maxItems: 12 }),
      jurors: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 20 }),
    }),
    output: object({
      draw: string(),
      drawn_at: string(),
      drawn_by: string(),
      cups: array(object({ juror: string(), teas: array(string()) })),
      repeated_pairs: integer(),
    }),
    // Random numbers, the clock and the actor of the job.
    determinism: 'stable',
  },
  ({ teas, jurors }, context) => {
    if (new Set(teas).size < teas.length) throw new Failure('INVALID_INPUT', 'a tea is named twice');
    if (new Set(jurors).size < jurors.length) throw new Failure('INVALID_INPUT', 'a juror is named twice');
    const start = Date.now();
    let best = jurors.map(() => shuffled(teas));
    let worst = repeated(best);
    // The rounds end the search. The clock only does so if it moves.
    for (let round = 0; round < ROUNDS && worst > 0 && Date.now() - start < 1000; round++) {
      const tried = best.map((order) => (Math.random() < 0.3 ? shuffled(teas) : order));
      const count = repeated(tried);
      if (count <= worst) [best, worst] = [tried, count];
    }
    const draw = crypto.randomUUID();
    console.log(`draw ${draw} for ${context.actor}: ${worst} repeated pairs`);
    events.emit('tasting-drawn', { draw, jurors: jurors.length });
    return {
      draw,
      drawn_at: new Date(start).toISOString(),
      drawn_by: context.actor,
      cups: jurors.map((juror, i) => ({ juror, teas: best[i] })),
      repeated_pairs: worst,
    };
  },
);

function shuffled(items) {
  const made = [...items];
  for (let i = made.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [made[i], made[j]] = [made[j], made[i]];
  }
  return made;
}

/** Number of times that a tea follows a tea that it has followed at another juror. */
function repeated(orders) {
  const seen = new Map();
  let count = 0;
  for (const order of orders) {
    for (let i = 1; i < order.length; i++) {
      const pair = JSON.stringify([order[i - 1], order[i]]);
      const before = seen.get(pair) ?? 0;
      if (before > 0) count += 1;
      seen.set(pair, before + 1);
    }
  }
  return count;
}
