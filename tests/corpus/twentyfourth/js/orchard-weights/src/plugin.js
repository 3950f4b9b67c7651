// Adds up the tickets of the weighbridge of a fruit cooperative for one day.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

// Check digits by grower. Most growers have many tickets on one day.
const digits = new Map();

function checkDigits(grower) {
  let found = digits.get(grower);
  if (found === undefined) {
    let rest = 0;
    for (const character of grower) rest = (rest * 31 + character.codePointAt(0)) % 97;
    found = String(rest).padStart(2, '0');
    digits.set(grower, found);
  }
  return found;
}

// The week of ISO 8601: the week of a day is that of the Thursday next to it.
function week(day) {
  const [year, month, date] = day.split('-').map(Number);
  const moment = new Date(Date.UTC(year, month - 1, date));
  if (moment.getUTCMonth() !== month - 1 || moment.getUTCDate() !== date) throw new Failure('INVALID_INPUT', `there is no day ${day}`);
  const thursday = new Date(moment.getTime() + (3 - ((moment.getUTCDay() + 6) % 7)) * 86400000);
  const first = Date.UTC(thursday.getUTCFullYear(), 0, 1);
  const number = Math.floor((thursday.getTime() - first) / 86400000 / 7) + 1;
  return `${thursday.getUTCFullYear()}-W${String(number).padStart(2, '0')}`;
}

const byName = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

step(
  'Orchard.Total',
  {
    description: 'Adds up the weights of a day by grower. Sums are texts, because a season of tickets can pass 2^53 grams.',
    input: object({
      day: string({ pattern: '^20[0-9]{2}-[0-9]{2}-[0-9]{2}$' }),
      tickets: array(
        object({ grower: string({ minLength: 1, maxLength: 80 }), crop: string({ minLength: 1, maxLength: 40 }), grams: integer({ minimum: 0 }) }),
        { maxItems: 600 },
      ),
    }),
    output: object({
      week: string(),
      growers: array(object({ grower: string(), label: string(), grams: string(), crops: array(string()) })),
      total: string(),
    }),
  },
  ({ day, tickets }) => {
    const number = week(day);
    const growers = new Map();
    let total = 0n;
    tickets.forEach(({ grower, crop, grams }, row) => {
      if (grower.trim() === '') throw new Failure('INVALID_INPUT', `ticket ${row + 1} names no grower`);
      const sum = growers.get(grower) ?? { grams: 0n, crops: new Set() };
      sum.grams += BigInt(grams);
      sum.crops.add(crop);
      growers.set(grower, sum);
      total += BigInt(grams);
    });
    const lines = [...growers].map(([grower, { grams, crops }]) => ({
      grower,
      label: `${[...grower].slice(0, 12).join('')} ${checkDigits(grower)}`,
      grams: String(grams),
      crops: [...crops].sort(byName),
    }));
    lines.sort((a, b) => byName(a.grower, b.grower));
    return { week: number, growers: lines, total: String(total) };
  },
);
