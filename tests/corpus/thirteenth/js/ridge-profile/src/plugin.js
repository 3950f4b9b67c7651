// Divides the height profile of a ridge walk into climbs and descents for the printed guide.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, oneOf } = schema;

const point = object({
  km: number({ minimum: 0, maximum: 1000 }),
  metres: number({ minimum: -500, maximum: 9000 }),
});

step(
  'Ridge.Legs',
  {
    description: 'Divides a height profile into legs that go up, down or along the level.',
    input: object({ points: array(point, { minItems: 2, maxItems: 5000 }) }),
    output: object({
      legs: array(object({ way: oneOf('up', 'down', 'level'), from_km: number(), to_km: number(), metres: integer(), minutes: integer() })),
      ascent_m: integer(),
      descent_m: integer(),
      minutes: integer(),
    }),
  },
  ({ points }) => {
    for (let i = 1; i < points.length; i++) {
      if (points[i].km <= points[i - 1].km) throw new Failure('INVALID_INPUT', `point ${i} is not after point ${i - 1}`);
    }
    const made = legs(points, 0);
    const sum = (way) => made.filter((leg) => leg.way === way).reduce((total, leg) => total + leg.metres, 0);
    return {
      legs: made,
      ascent_m: sum('up'),
      descent_m: sum('down'),
      minutes: made.reduce((total, leg) => total + leg.minutes, 0),
    };
  },
);

/** The legs from a point on: the first one, which ends where the way changes, and those after it. */
function legs(points, from) {
  if (from >= points.length - 1) return [];
  const way = wayOf(points[from], points[from + 1]);
  let to = from + 1;
  while (to < points.length - 1 && wayOf(points[to], points[to + 1]) === way) to++;
  return [legOf(way, points[from], points[to]), ...legs(points, to)];
}

function wayOf(a, b) {
  const rise = Math.round(b.metres) - Math.round(a.metres);
  if (rise === 0) return 'level';
  return rise > 0 ? 'up' : 'down';
}

/** Walking time by the rule of the alpine clubs: the longer of both times, and half of the shorter one. */
function legOf(way, a, b) {
  const metres = Math.abs(Math.round(b.metres) - Math.round(a.metres));
  const along = ((b.km - a.km) / 4) * 60;
  const climbing = (metres / (way === 'up' ? 300 : 500)) * 60;
  const minutes = Math.round(Math.max(along, climbing) + Math.min(along, climbing) / 2);
  return { way, from_km: a.km, to_km: b.km, metres, minutes };
}
