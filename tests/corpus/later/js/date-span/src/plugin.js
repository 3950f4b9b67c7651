import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;

const DAY = 24 * 60 * 60 * 1000;

/** Reads a day such as 2026-01-31. The time zone of the machine has no effect on a day in UTC. */
function day(text) {
  const date = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(date.getTime()) || date.toISOString().slice(0, 10) !== text) {
    throw new Failure('INVALID_INPUT', `${text} is not a day`);
  }
  return date;
}

step(
  'Stay.Nights',
  {
    description: 'Counts the nights of a stay and those at weekends.',
    input: object({ arrival: string(), departure: string(), reference: optional(string()) }),
    output: object({ nights: integer(), weekend: integer(), last: string(), reference: string() }),
    determinism: 'pure',
  },
  ({ arrival, departure, reference }) => {
    const [from, to] = [day(arrival), day(departure)];
    const nights = Math.round((to - from) / DAY);
    if (nights < 1 || nights > 365) throw new Failure('INVALID_INPUT', `a stay of ${nights} nights is not possible`);
    let weekend = 0;
    for (let night = 0; night < nights; night++) {
      const date = new Date(from.getTime() + night * DAY);
      if (date.getUTCDay() >= 5) weekend++;
    }
    const last = new Date(to.getTime() - DAY).toISOString().slice(0, 10);
    return { nights, weekend, last, reference: reference ?? `${arrival}/${departure}` };
  },
);
