// Books the wagons of a month with the railway. The railway is often busy, so refused legs get further rounds.
import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const BUSY = ['RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR'];
const ROUNDS = 3;
const station = string({ minLength: 1, maxLength: 40 });

step(
  'Wagon.Book',
  {
    description: 'Books one set of wagons for each leg of a month.',
    input: object({
      customer: string({ minLength: 1, maxLength: 40 }),
      month: string({ pattern: '^20[0-9]{2}-(0[1-9]|1[0-2])$' }),
      legs: array(object({ from: station, to: station, wagons: integer({ minimum: 1, maximum: 60 }) }), { maxItems: 80 }),
    }),
    output: object({
      booked: array(object({ from: string(), to: string(), booking: string() })),
      refused: array(object({ from: string(), to: string(), code: string() })),
    }),
    effects: ['external_write'],
    determinism: 'external',
  },
  ({ customer, month, legs }) => {
    // One customer has one set of wagons on a leg in a month.
    const keyOf = ({ from, to }) => JSON.stringify(['wagons', customer, month, from, to]);
    const seen = new Set();
    for (const leg of legs) {
      if (leg.from === leg.to) throw new Failure('INVALID_INPUT', `a leg begins and ends at ${leg.from}`);
      if (seen.has(keyOf(leg))) throw new Failure('INVALID_INPUT', `the leg from ${leg.from} to ${leg.to} is listed twice`);
      seen.add(keyOf(leg));
    }
    const booked = [];
    const refused = [];
    let waiting = legs;
    for (let round = 1; waiting.length > 0; round++) {
      const again = [];
      for (const leg of waiting) {
        const { from, to, wagons } = leg;
        let answer;
        try {
          answer = tools.call('Railway.Reserve', { customer, month, from, to, wagons }, { actionKey: keyOf(leg) });
        } catch (failure) {
          if (!(failure instanceof Failure)) throw failure;
          if (round < ROUNDS && BUSY.includes(failure.code)) again.push(leg);
          else refused.push({ from, to, code: failure.code });
          continue;
        }
        if (typeof answer?.booking !== 'string') throw new Failure('SCHEMA_VALIDATION_FAILED', `no booking for ${from} to ${to}`);
        booked.push({ from, to, booking: answer.booking });
        events.emit('wagons.booked', { customer, month, from, to, booking: answer.booking });
      }
      waiting = again;
    }
    return { booked, refused };
  },
);
