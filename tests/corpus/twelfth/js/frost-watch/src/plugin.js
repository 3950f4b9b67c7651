// Decides which beds of a nursery are covered tonight.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, number, object, string } = schema;

step(
  'Frost.Decide',
  {
    description: 'Decides from the forecast which beds of a nursery are covered tonight.',
    input: object({
      station: string({ minLength: 1 }),
      beds: array(object({ name: string(), hardy_to_c: number({ minimum: -60, maximum: 40 }), sheltered: boolean() })),
    }),
    output: object({ low_c: number(), cover: array(string()), decided_at: string() }),
    // Stable and not pure: the output has the time of the decision.
    determinism: 'stable',
  },
  ({ station, beds }, context) => {
    const forecast = tools.call('Weather.Forecast', { station, hours: 12 });
    const hours = Array.isArray(forecast?.hours) ? forecast.hours : [];
    const lows = hours.map((hour) => hour?.temperature_c).filter(Number.isFinite);
    if (lows.length === 0) throw new Failure('DEPENDENCY_UNAVAILABLE', `there is no forecast for ${station}`);
    const low = lows.reduce((least, one) => Math.min(least, one));
    // A fence or a wall keeps about two degrees.
    const cover = beds.filter(({ hardy_to_c, sheltered }) => low + (sheltered ? 2 : 0) < hardy_to_c).map(({ name }) => name);
    if (cover.length > 0) events.emit('frost-warning', { station, low_c: low, beds: cover.length });
    console.log(`low of ${low} C at ${station}: ${cover.length} of ${beds.length} beds, for ${context.actor}`);
    return { low_c: low, cover, decided_at: new Date().toISOString() };
  },
);
