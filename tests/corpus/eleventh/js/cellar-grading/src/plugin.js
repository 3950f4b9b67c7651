import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

const tasting = object({ taster: string({ minLength: 1, maxLength: 60 }), points: integer({ minimum: 0, maximum: 100 }) });

step(
  'Cellar.Grade',
  {
    description: 'Turns the points of the tasters into the stars of a cask, from 1 to 5.',
    input: object({ cask: string({ minLength: 1, maxLength: 60 }), tastings: array(tasting, { maxItems: 200 }) }),
    output: object({
      cask: string(),
      stars: integer({ minimum: 1, maximum: 5 }),
      mean: number({ minimum: 0, maximum: 100 }),
      tasters: integer({ minimum: 1 }),
    }),
    determinism: 'pure',
  },
  ({ cask, tastings }) => {
    if (tastings.length === 0) throw new Failure('INVALID_INPUT', `the cask ${cask} was not tasted`);
    const tasters = new Set(tastings.map(({ taster }) => taster));
    if (tasters.size < tastings.length) throw new Failure('INVALID_INPUT', `a taster of the cask ${cask} has two votes`);

    // With five votes or more, the highest and the lowest do not count.
    let points = tastings.map((vote) => vote.points).sort((a, b) => a - b);
    if (points.length >= 5) points = points.slice(1, -1);
    const mean = points.reduce((sum, one) => sum + one, 0) / points.length;
    return {
      cask,
      stars: Math.round(mean / 20),
      mean: Math.round(mean * 10) / 10,
      tasters: tasters.size,
    };
  },
);
