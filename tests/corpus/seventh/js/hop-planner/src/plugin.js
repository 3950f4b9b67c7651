import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

const stop = object({ name: string(), x: number(), y: number() });

const apart = (a, b) => Math.hypot(a.x - b.x, a.y - b.y);
const rounded = (value) => Math.round(value * 100) / 100;

function length(tour) {
  let total = 0;
  for (let i = 1; i < tour.length; i++) total += apart(tour[i - 1], tour[i]);
  return total;
}

function nearestFirst(stops) {
  const [first, ...open] = stops;
  const tour = [first];
  while (open.length > 0) {
    const here = tour[tour.length - 1];
    let best = 0;
    for (let i = 1; i < open.length; i++) if (apart(here, open[i]) < apart(here, open[best])) best = i;
    tour.push(...open.splice(best, 1));
  }
  return tour;
}

/** Turns sections of the tour around as long as this makes it shorter. */
function untangled(tour, rounds) {
  let best = tour;
  for (let round = 0; round < rounds; round++) {
    const before = length(best);
    for (let from = 1; from < best.length - 1; from++) {
      for (let to = from + 2; to <= best.length; to++) {
        const other = [...best.slice(0, from), ...best.slice(from, to).reverse(), ...best.slice(to)];
        if (length(other) < length(best) - 1e-9) best = other;
      }
    }
    if (length(best) >= before - 1e-9) break;
  }
  return best;
}

step(
  'Hop.Plan',
  {
    description: 'Orders the stops of a delivery round so that the way is short.',
    input: object({ stops: array(stop, { minItems: 1, maxItems: 20 }) }),
    output: object({ order: array(string()), length: number(), saved: number(), stops: integer() }),
  },
  ({ stops }) => {
    const names = new Set(stops.map(({ name }) => name));
    if (names.size !== stops.length) throw new Failure('INVALID_INPUT', 'two stops have the same name');
    console.time('planned');
    const first = nearestFirst(stops);
    const tour = untangled(first, 10);
    console.timeEnd('planned');
    return {
      order: tour.map(({ name }) => name),
      length: rounded(length(tour)),
      saved: rounded(length(first) - length(tour)),
      stops: tour.length,
    };
  },
);
