// Reads the plots of a diving transect from the survey server and sums the kelp plants by depth band.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

/** The survey server accepts five requests in a second. */
const GAP_MS = 200;
const BANDS = [
  { name: 'shallow', below: 5 },
  { name: 'middle', below: 12 },
  { name: 'deep', below: Infinity },
];

step(
  'Kelp.Transect',
  {
    description: 'Sums the kelp plants of the plots of a transect by depth band.',
    input: object({ transect: string({ minLength: 1 }), plots: array(integer({ minimum: 1 }), { maxItems: 400 }) }),
    output: object({
      transect: string(),
      plots: integer(),
      bands: array(object({ name: string(), plants: integer(), per_square_metre: number() })),
    }),
    // The survey server answers with its present state.
    determinism: 'external',
  },
  ({ transect, plots }) => {
    if (plots.length === 0) throw new Failure('INVALID_INPUT', `transect ${transect} has no plots`);
    const sums = new Map(BANDS.map(({ name }) => [name, { plants: 0, area: 0 }]));
    let asked = 0;
    for (const plot of plots) {
      asked = paced(asked);
      const { depth, plants, area } = tools.call('Survey.Plot', { transect, plot });
      if (!Number.isFinite(depth) || !Number.isInteger(plants) || plants > 1e6) throw new Failure('INVALID_INPUT', `plot ${plot} of ${transect} was not counted`);
      if (!(area > 0)) throw new Failure('INVALID_INPUT', `plot ${plot} of ${transect} has no area`);
      const { name } = BANDS.find(({ below }) => depth < below);
      const sum = sums.get(name);
      sum.plants += plants;
      sum.area += area;
    }
    const bands = BANDS.filter(({ name }) => sums.get(name).area > 0).map(({ name }) => {
      const { plants, area } = sums.get(name);
      return { name, plants, per_square_metre: Math.round((plants / area) * 100) / 100 };
    });
    console.log(`${plots.length} plots of ${transect}`);
    return { transect, plots: plots.length, bands };
  },
);

/** Keeps the distance between two requests, and returns the time of the new one. */
function paced(asked) {
  while (Date.now() - asked < GAP_MS) {
    // The server would refuse an earlier request.
  }
  return Date.now();
}
