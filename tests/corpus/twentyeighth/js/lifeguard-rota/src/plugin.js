// Sheet of the beach hut: who watches the beach today.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array, boolean } = schema;

const NAMES = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

const turn = object({
  guard: string({ minLength: 1 }),
  days: array(integer({ minimum: 1, maximum: 7 }), { minItems: 1 }),
  from: integer({ minimum: 0, maximum: 23 }),
  to: integer({ minimum: 1, maximum: 24 }),
});

function overlap(one, other) {
  return one.from < other.to && other.from < one.to;
}

/** Hours from 10 to 18 at which fewer than `needed` guards are on the beach. */
function gaps(turns, needed) {
  const thin = [];
  for (let hour = 10; hour < 18; hour++) {
    const present = turns.filter(({ from, to }) => from <= hour && hour < to).length;
    if (present < needed) thin.push(hour);
  }
  return thin;
}

step(
  'Rota.Today',
  {
    description: 'Lists the lifeguards of the present day and the hours with too few of them.',
    input: object({ beach: string({ minLength: 1 }), needed: integer({ minimum: 1, maximum: 9 }), turns: array(turn) }),
    output: object({
      title: string(),
      // 1 is Monday, 7 is Sunday.
      weekday: integer({ minimum: 1, maximum: 7 }),
      watch: array(object({ guard: string(), hours: string() })),
      thin: array(integer()),
      staffed: boolean(),
    }),
    determinism: 'stable',
  },
  (input) => {
    for (const { guard, from, to } of input.turns) {
      if (from >= to) throw new Failure('INVALID_INPUT', `the turn of ${guard} ends before it begins`);
    }
    const now = new Date();
    const weekday = now.getUTCDay();
    const today = input.turns.filter(({ days }) => days.includes(weekday)).sort((a, b) => a.from - b.from || a.to - b.to);
    for (const [at, one] of today.entries()) {
      const twice = today.slice(at + 1).find((other) => other.guard === one.guard && overlap(one, other));
      if (twice) throw new Failure('INVALID_INPUT', `${one.guard} has two turns at the same time`);
    }
    const thin = gaps(today, input.needed);
    return {
      title: `${input.beach}, ${NAMES[weekday]} ${now.toISOString().slice(0, 10)}`,
      weekday,
      watch: today.map(({ guard, from, to }) => ({ guard, hours: `${from}-${to}` })),
      thin,
      staffed: thin.length === 0,
    };
  },
);
