// Prices of a parcel line. The administrator keeps the brackets in the `config` of the plugin, so a new price list needs
// no new build.

import { config, Failure, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, oneOf, optional, string } = schema;

const whole = (value, most) => Number.isInteger(value) && value >= 0 && value <= most;

/** Returns the brackets in the order of their weights. A list that cannot be used is no list. */
function brackets() {
  const list = config.get('brackets');
  if (list === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', 'config has no brackets');
  const usable =
    Array.isArray(list) &&
    list.length > 0 &&
    list.length <= 200 &&
    list.every((one) => whole(one?.up_to_g, 1e6) && whole(one?.cents, 1e7) && typeof one?.name === 'string' && one.name.length <= 60);
  if (!usable) throw new Failure('MISSING_REQUIRED_CONTEXT', 'config has brackets that are no price list');
  return list.toSorted((a, b) => a.up_to_g - b.up_to_g);
}

/** Day of the week of a date, 0 for Sunday. A date with arguments reads no clock. */
function weekday(day) {
  const at = new Date(`${day}T12:00:00Z`);
  if (Number.isNaN(at.getTime()) || at.toISOString().slice(0, 10) !== day) {
    throw new Failure('INVALID_INPUT', `${day} is no day of the calendar`);
  }
  return at.getUTCDay();
}

tool(
  'Parcel.Price',
  {
    description: 'Names the bracket and the price of a parcel.',
    input: object({
      grams: integer({ minimum: 1, maximum: 1_000_000 }),
      day: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      service: oneOf('standard', 'signed'),
      bulky: optional(boolean()),
    }),
    output: object({ bracket: string(), cents: integer({ minimum: 0 }), weekend: boolean() }),
    determinism: 'pure',
  },
  ({ grams, day, service, bulky = false }) => {
    const weekend = [0, 6].includes(weekday(day));
    // A bulky parcel counts as half as heavy again.
    const counted = bulky ? Math.ceil((grams * 3) / 2) : grams;
    const list = brackets();
    const found = list.find(({ up_to_g: most }) => counted <= most);
    if (found === undefined) throw new Failure('INVALID_INPUT', `${counted} g is above the last bracket of ${list.at(-1).up_to_g} g`);
    // Whole cents, rounded up: 20 percent on a weekend.
    const base = weekend ? Math.ceil((found.cents * 6) / 5) : found.cents;
    return { bracket: found.name, cents: base + (service === 'signed' ? 350 : 0), weekend };
  },
);
