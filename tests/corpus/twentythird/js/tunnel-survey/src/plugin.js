import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const coordinate = integer({ minimum: -100000000, maximum: 100000000 });

/** Stations by their name. A name that is measured twice has no clear position. */
function byName(stations) {
  const known = new Map();
  for (const station of stations) {
    if (known.has(station.name)) throw new Failure('INVALID_INPUT', `station ${station.name} is measured twice`);
    known.set(station.name, station);
  }
  return known;
}

step(
  'Traverse.Compute',
  {
    description: 'Computes the coordinates of the stations of a tunnel survey. All lengths are in millimetres.',
    input: object({
      // The instrument writes the newest station first.
      stations: array(
        object({
          name: string({ pattern: '^[A-Z]{1,3}[0-9]{1,5}$' }),
          from: string({ pattern: '^[A-Z]{1,3}[0-9]{1,5}$' }),
          east: integer({ minimum: -50000, maximum: 50000 }),
          north: integer({ minimum: -50000, maximum: 50000 }),
          up: integer({ minimum: -50000, maximum: 50000 }),
        }),
        { minItems: 1, maxItems: 3000 },
      ),
      portal: object({
        name: string({ pattern: '^[A-Z]{1,3}[0-9]{1,5}$' }),
        east: coordinate,
        north: coordinate,
        up: coordinate,
      }),
    }),
    output: object({
      positions: array(object({ name: string(), east: integer(), north: integer(), up: integer() })),
      length: integer(),
      deepest: string(),
    }),
  },
  ({ stations, portal }) => {
    const measured = byName(stations);
    if (measured.has(portal.name)) throw new Failure('INVALID_INPUT', `the portal ${portal.name} is also a station`);

    const positions = new Map([[portal.name, portal]]);
    const open = new Set();

    // A station is placed after the station from which it was measured. Each station is computed once.
    const place = (name) => {
      const done = positions.get(name);
      if (done !== undefined) return done;
      const station = measured.get(name);
      if (station === undefined) throw new Failure('INVALID_INPUT', `station ${name} was not measured`);
      if (open.has(name)) throw new Failure('INVALID_INPUT', `station ${name} is measured from itself`);
      open.add(name);
      const from = place(station.from);
      open.delete(name);
      const position = {
        name,
        east: from.east + station.east,
        north: from.north + station.north,
        up: from.up + station.up,
      };
      positions.set(name, position);
      return position;
    };

    const placed = stations.map(({ name }) => place(name));
    const length = stations.reduce((sum, { east, north, up }) => sum + Math.hypot(east, north, up), 0);
    const deepest = placed.reduce((low, position) => (position.up < low.up ? position : low));
    return { positions: placed, length: Math.round(length), deepest: deepest.name };
  },
);
