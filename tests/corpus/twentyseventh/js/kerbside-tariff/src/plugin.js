import { config, Failure, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const MINUTE = 60 * 1000;
const DAY = 24 * 60;

// Used where the administrator has set no tariff: free on Sundays, and at night.
const USUAL = { open: 8 * 60, close: 20 * 60, free_days: [0], cents_per_quarter: 60, most_cents: 1800 };

// Minutes of the day by its text, computed once in a run.
const minutes = new Map();

function minuteOf(time) {
  if (!minutes.has(time)) {
    const [hour, minute] = time.split(':').map(Number);
    minutes.set(time, hour * 60 + minute);
  }
  return minutes.get(time);
}

function tariffOf(zone) {
  const own = config.get('zones')?.[zone];
  if (own === undefined) return USUAL;
  return { ...USUAL, ...own, open: minuteOf(own.open ?? '08:00'), close: minuteOf(own.close ?? '20:00') };
}

function moment(text) {
  const at = new Date(`${text}:00Z`);
  if (Number.isNaN(at.getTime())) throw new Failure('INVALID_INPUT', `${text} is no minute of the calendar`);
  return at;
}

/** Minutes between two moments in which the zone charges, day by day. */
function charged(from, until, { open, close, free_days: free }) {
  const days = [];
  for (let day = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate())); day < until; day = new Date(day.getTime() + DAY * MINUTE)) {
    if (free.includes(day.getUTCDay())) continue;
    const start = Math.max((from - day) / MINUTE, open);
    const end = Math.min((until - day) / MINUTE, close);
    if (end > start) days.push({ day: day.toISOString().slice(0, 10), minutes: end - start });
  }
  return days;
}

tool(
  'Kerbside.Charge',
  {
    description: 'Computes the charge for parking at the kerb, by the local times of its begin and end.',
    input: object({
      zone: string({ pattern: '^[A-Z]\\d{0,2}$' }),
      from: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }),
      until: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}$' }),
    }),
    output: object({ cents: integer(), days: array(object({ day: string(), minutes: integer(), cents: integer() })) }),
    determinism: 'pure',
  },
  ({ zone, from, until }) => {
    const [begin, end] = [moment(from), moment(until)];
    if (end <= begin) throw new Failure('INVALID_INPUT', 'the parking ends before it begins');
    if (end - begin > 31 * DAY * MINUTE) throw new Failure('INVALID_INPUT', 'a car is parked for at most a month');
    const tariff = tariffOf(zone);
    const days = charged(begin, end, tariff).map((one) => ({
      ...one,
      cents: Math.min(Math.ceil(one.minutes / 15) * tariff.cents_per_quarter, tariff.most_cents),
    }));
    console.log(`zone ${zone}: ${days.length} days`);
    return { cents: days.reduce((sum, { cents }) => sum + cents, 0), days };
  },
);
