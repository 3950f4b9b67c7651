import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

step(
  'Hangar.Rate',
  {
    description: 'Finds the lowest rate among the hangars that an aircraft fits into.',
    input: object({
      wingspan_m: number(),
      nights: integer({ maximum: 366 }),
      hangars: array(object({ name: string(), door_m: number(), per_night: number({ minimum: 0, maximum: 10000 }) })),
    }),
    output: object({ hangars: integer(), per_night: number(), total: number() }),
  },
  ({ wingspan_m, nights, hangars }) => {
    if (wingspan_m <= 0) throw new Failure('INVALID_INPUT', 'an aircraft has a wingspan');
    if (nights < 1) throw new Failure('INVALID_INPUT', `${nights} nights`);
    // Half a metre of room on each side.
    const fits = hangars.filter(({ door_m }) => door_m >= wingspan_m + 1);
    const lowest = Math.min(...fits.map(({ per_night }) => per_night));
    // The seventh night of each week is free.
    const paid = nights - Math.floor(nights / 7);
    return { hangars: fits.length, per_night: lowest, total: Math.round(lowest * paid * 100) / 100 };
  },
);
