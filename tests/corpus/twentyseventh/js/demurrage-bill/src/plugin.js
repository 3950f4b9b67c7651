import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const HOUR = 3600 * 1000;

// Hours beyond the free time, and the rate per hour up to there as a percentage of the contract's rate.
const BANDS = [
  { hours: 24, percent: 50 },
  { hours: 72, percent: 100 },
  { hours: Infinity, percent: 150 },
];

function instant(text, what) {
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new Failure('INVALID_INPUT', `${what} is no time: ${text}`);
  return at;
}

/** Wraps facts for the bus of the harbour, which takes CloudEvents 1.0 and drops an id that it has seen. */
function envelope(type, subject, data) {
  return { specversion: '1.0', id: crypto.randomUUID(), source: '/berths/demurrage', type, subject, datacontenttype: 'application/json', data };
}

function charge(over, rate) {
  const lines = [];
  let from = 0;
  for (const { hours, percent } of BANDS) {
    if (over <= from) break;
    const inside = Math.min(over, hours) - from;
    lines.push({ hours: inside, percent, cents: Math.round((inside * rate * percent) / 100) });
    from = hours;
  }
  return lines;
}

step(
  'Demurrage.Bill',
  {
    description: 'Computes the demurrage of a ship that stayed longer than its contract allows.',
    input: object({
      ship: string({ minLength: 1, maxLength: 80 }),
      arrived: string({ maxLength: 40 }),
      left: string({ maxLength: 40 }),
      free_hours: integer({ minimum: 0, maximum: 2000 }),
      rate_cents: integer({ minimum: 1, maximum: 100000000 }),
      stoppages: array(object({ from: string({ maxLength: 40 }), until: string({ maxLength: 40 }) }), { maxItems: 500 }),
    }),
    output: object({
      ship: string(),
      hours: integer(),
      lines: array(object({ hours: integer(), percent: integer(), cents: integer() })),
      cents: integer(),
    }),
    determinism: 'pure',
  },
  (input) => {
    const arrived = instant(input.arrived, 'the arrival');
    const left = instant(input.left, 'the departure');
    if (left < arrived) throw new Failure('INVALID_INPUT', `${input.ship} left before it arrived`);

    // Strikes and storms do not count. The stoppages of the list do not overlap.
    let stopped = 0;
    for (const { from, until } of input.stoppages) {
      const start = Math.max(arrived, instant(from, 'a stoppage'));
      const end = Math.min(left, instant(until, 'a stoppage'));
      stopped += Math.max(0, end - start);
    }
    const hours = Math.ceil((left - arrived - stopped) / HOUR);
    const lines = charge(Math.max(0, hours - input.free_hours), input.rate_cents);
    const bill = { ship: input.ship, hours, lines, cents: lines.reduce((sum, { cents }) => sum + cents, 0) };
    if (bill.cents > 0) events.emit('demurrage.billed', envelope('harbour.demurrage.billed', input.ship, { hours, cents: bill.cents }));
    return bill;
  },
);
