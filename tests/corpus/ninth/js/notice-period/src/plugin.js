import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string, integer } = schema;
const DAY = 86_400_000;

// Easter of the years that this run has met.
const easters = new Map();

function easter(year) {
  let found = easters.get(year);
  if (found === undefined) {
    const a = year % 19;
    const b = Math.floor(year / 100);
    const c = year % 100;
    const h = (19 * a + b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3) + 15) % 30;
    const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7;
    const m = Math.floor((a + 11 * h + 22 * l) / 451);
    const n = h + l - 7 * m + 114;
    found = Date.UTC(year, Math.floor(n / 31) - 1, (n % 31) + 1);
    easters.set(year, found);
  }
  return found;
}

function isFree(time) {
  const date = new Date(time);
  const day = date.getUTCDay();
  if (day === 0 || day === 6) return true;
  const shift = (time - easter(date.getUTCFullYear())) / DAY;
  return shift === -2 || shift === 1 || date.toISOString().endsWith('-01-01T00:00:00.000Z');
}

step(
  'Notice.End',
  {
    description: 'Computes the last working day of each notice period.',
    input: object({
      notices: array(object({ person: string(), given: string(), weeks: integer({ minimum: 1, maximum: 52 }) }), { maxItems: 200 }),
    }),
    output: object({ ends: array(object({ person: string(), end: string(), moved: integer() })) }),
  },
  (input) => ({
    ends: input.notices.map(({ person, given, weeks }) => {
      const start = /^20\d\d-\d\d-\d\d$/.test(given) ? Date.parse(`${given}T00:00:00Z`) : NaN;
      if (Number.isNaN(start)) throw new Failure('INVALID_INPUT', `the notice of ${person} has no usable date`);
      let end = start + weeks * 7 * DAY;
      let moved = 0;
      // At most a few days in a row are free.
      while (isFree(end)) {
        end -= DAY;
        moved += 1;
      }
      return { person, end: new Date(end).toISOString().slice(0, 10), moved };
    }),
  }),
);
