import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, number, object, string } = schema;

// Time in milliseconds for the search. A better route is rarely found later.
const BUDGET = 40;

const stop = object({ name: string(), x: number(), y: number() });

function length(route) {
  let sum = 0;
  for (let i = 1; i < route.length; i++) sum += Math.hypot(route[i].x - route[i - 1].x, route[i].y - route[i - 1].y);
  return sum;
}

/** Reverses the part of a route between two random stops, except the depot at its begin. */
function changed(route) {
  const [from, to] = [0, 0].map(() => 1 + Math.floor(Math.random() * (route.length - 1))).sort((a, b) => a - b);
  return [...route.slice(0, from), ...route.slice(from, to + 1).reverse(), ...route.slice(to + 1)];
}

step(
  'Route.Improve',
  {
    description: 'Shortens the route of a delivery van.',
    input: object({ stops: array(stop) }),
    output: object({ stops: array(string()), length: number() }),
    // Stable and not pure: the search is random.
    determinism: 'stable',
  },
  ({ stops }) => {
    if (stops.length < 2) throw new Failure('INVALID_INPUT', 'a route needs two stops');
    let best = stops;
    if (stops.length > 3) {
      const end = Date.now() + BUDGET;
      while (Date.now() < end) {
        const other = changed(best);
        if (length(other) < length(best)) best = other;
      }
    }
    return { stops: best.map(({ name }) => name), length: Math.round(length(best) * 100) / 100 };
  },
);
