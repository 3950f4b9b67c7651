// Wristbands of a triathlon: each athlete gets a start wave and a code that the timing mats read.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const WAVES = { sprint: 60, olympic: 40, long: 25 };

// Six characters are printed on a band: more than two thousand million codes.
const CODES = 36 ** 6;

function draw(taken) {
  for (let round = 0; round < 8; round++) {
    const code = Math.floor(Math.random() * CODES).toString(36).toUpperCase();
    if (!taken.has(code)) return code;
  }
  throw new Failure('TEMPORARY_PROVIDER_ERROR', 'no free code was drawn in eight rounds');
}

step(
  'Wristbands.Assign',
  {
    description: 'Assigns start waves and codes to the athletes of a race.',
    input: object({
      race: string({ minLength: 1, maxLength: 60 }),
      distance: oneOf('sprint', 'olympic', 'long'),
      athletes: array(
        object({
          bib: integer({ minimum: 1, maximum: 9999 }),
          name: string({ minLength: 1, maxLength: 80 }),
          swim_seconds: integer({ minimum: 0, maximum: 20000 }),
        }),
        { minItems: 1, maxItems: 600 },
      ),
    }),
    output: object({
      race: string(),
      bands: array(
        object({
          bib: integer(),
          wave: integer({ minimum: 1 }),
          code: string({ pattern: '^[0-9A-Z]{6}$' }),
          line: string(),
        }),
      ),
    }),
    determinism: 'stable',
  },
  ({ race, distance, athletes }) => {
    const bibs = new Set();
    for (const { bib } of athletes) {
      if (bibs.has(bib)) throw new Failure('INVALID_INPUT', `bib ${bib} is given twice`);
      bibs.add(bib);
    }
    // Fast swimmers start first. Without a time an athlete starts in the last wave.
    const order = [...athletes].sort(
      (a, b) => (a.swim_seconds || Infinity) - (b.swim_seconds || Infinity) || a.bib - b.bib,
    );
    const size = WAVES[distance];
    const taken = new Set();
    const bands = order.map(({ bib, name }, place) => {
      const wave = Math.floor(place / size) + 1;
      const code = draw(taken);
      taken.add(code);
      return { bib, wave, code, line: `${String(bib).padStart(4, '0')} ${[...name].slice(0, 24).join('')} W${wave}` };
    });
    return { race, bands };
  },
);
