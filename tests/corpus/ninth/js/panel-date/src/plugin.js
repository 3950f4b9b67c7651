import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

// Asks all these calendars at once. Returns the free days by expert, and the experts without an answer.
function ask(experts, days) {
  const calls = experts.map((expert) => ({ operator: 'Calendar.Free', args: { person: expert, days } }));
  const free = new Map();
  const silent = [];
  tools.callAll(calls).forEach(({ ok, failure }, i) => {
    if (failure !== undefined || !Array.isArray(ok?.free)) {
      console.warn(`${experts[i]}: ${failure?.message ?? 'no list of days'}`);
      silent.push(experts[i]);
    } else {
      free.set(experts[i], new Set(ok.free));
    }
  });
  return { free, silent };
}

step(
  'Panel.Date',
  {
    description: 'Finds the day on which the most experts of a panel are free.',
    input: object({
      experts: array(string({ minLength: 1, maxLength: 100 }), { minItems: 1, maxItems: 30 }),
      days: array(string({ maxLength: 10 }), { minItems: 1, maxItems: 60 }),
    }),
    output: object({
      id: string(), day: string(), free: array(string()), silent: array(string()), asked_by: string(), asked_at: string(),
    }),
    determinism: 'external',
  },
  (input, context) => {
    const { free, silent } = ask([...new Set(input.experts)], input.days);
    // A calendar that did not answer gets one more chance.
    const again = silent.length > 0 ? ask(silent, input.days) : { free: new Map(), silent: [] };
    const all = new Map([...free, ...again.free]);

    let best = [];
    let day;
    for (const candidate of input.days) {
      const able = [...all.keys()].filter((expert) => all.get(expert).has(candidate));
      if (able.length > best.length) [best, day] = [able, candidate];
    }
    if (day === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', 'on none of these days an expert is known to be free');
    return {
      id: crypto.randomUUID(), day, free: best, silent: again.silent, asked_by: context.actor, asked_at: new Date().toISOString(),
    };
  },
);
