// Draws the start places of a marathon among its applicants.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, string } = schema;

/** Largest number of applicants in the list of a race office. */
const APPLICANTS = 6000;

const applicant = object({ id: string({ pattern: '^[A-Za-z0-9-]{1,24}$' }), local: boolean() });

step(
  'Marathon.Draw',
  {
    description: 'Draws the start places of a marathon and orders its waiting list.',
    input: object({
      race: string({ minLength: 1, maxLength: 120 }),
      places: integer({ minimum: 1, maximum: APPLICANTS }),
      for_locals: integer({ minimum: 0, maximum: APPLICANTS }),
      applicants: array(applicant, { maxItems: APPLICANTS }),
    }),
    output: object({ race: string(), starters: array(string()), waiting: array(string()) }),
    // Each race gets an order of its own.
    determinism: 'stable',
  },
  ({ race, places, for_locals: forLocals, applicants }) => {
    if (applicants.length === 0) throw new Failure('INVALID_INPUT', `${race} has no applicants`);
    if (forLocals > places) throw new Failure('INVALID_INPUT', `${race} keeps more places for locals than it has`);
    refuseDoubles(race, applicants);
    const order = shuffled(applicants);
    const starters = chosen(order, places, forLocals);
    const taken = new Set(starters);
    const waiting = order.map(({ id }) => id).filter((id) => !taken.has(id));
    console.log(`${race}: ${starters.length} starters, ${waiting.length} on the waiting list`);
    return { race, starters, waiting };
  },
);

/** Fills the places of the locals first, then the open ones, in the order of the draw. */
function chosen(order, places, forLocals) {
  const locals = order.filter(({ local }) => local).slice(0, forLocals);
  const first = new Set(locals.map(({ id }) => id));
  const others = order.filter(({ id }) => !first.has(id)).slice(0, places - locals.length);
  return [...locals, ...others].map(({ id }) => id);
}

/** Returns a copy of the list in random order. */
function shuffled(list) {
  const mixed = [...list];
  for (let at = mixed.length - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [mixed[at], mixed[other]] = [mixed[other], mixed[at]];
  }
  return mixed;
}

/** An applicant takes part in the draw once. */
function refuseDoubles(race, applicants) {
  const seen = new Set();
  for (const { id } of applicants) {
    if (seen.has(id)) throw new Failure('INVALID_INPUT', `${race} has the applicant ${id} twice`);
    seen.add(id);
  }
}
