// Asks a venue about the free seats of a run of shows, and announces the shows that are nearly full.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, nullable, object, oneOf, string } = schema;

/** Bytes of a title in the name of an event. */
const TITLE_BYTES = 100;

/** Number of times at which a show without an answer is asked about. */
const ROUNDS = 3;

const evening = string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' });
const seats = object({ on: string(), free: nullable(integer()), state: oneOf('open', 'few', 'full', 'unknown') });

step(
  'Playbill.Watch',
  {
    description: 'Finds the free seats of each evening, and emits an event for each evening that is nearly full.',
    input: object({
      title: string({ minLength: 1, maxLength: 300 }),
      evenings: array(evening, { minItems: 1, maxItems: 60, uniqueItems: true }),
      few: integer({ minimum: 0, maximum: 500 }),
    }),
    output: object({ evenings: array(seats), announced: integer() }),
    determinism: 'external',
  },
  ({ title, evenings, few }) => {
    const free = new Map();
    for (let round = 0; round < ROUNDS && free.size < evenings.length; round++) {
      const open = evenings.filter((on) => !free.has(on));
      const answers = tools.callAll(open.map((on) => ({ operator: 'Venue.Seats', args: { on } })));
      answers.forEach(({ ok, failure }, at) => {
        if (failure !== undefined) {
          console.warn(`${open[at]}: ${failure.code}`);
          if (failure.code === 'AUTH_FORBIDDEN') throw new Failure('AUTH_FORBIDDEN', 'the venue refused the account');
        } else if (Number.isSafeInteger(ok?.free) && ok.free >= 0) {
          free.set(open[at], ok.free);
        }
      });
    }
    const states = evenings.map((on) => described(on, free.get(on), few));
    const announced = states.filter(({ state }) => state === 'few' || state === 'full');
    for (const { on, state } of announced) events.emit(`${state}/${on}/${clipped(title)}`, { title, on, state });
    return { evenings: states, announced: announced.length };
  },
);

function described(on, free, few) {
  if (free === undefined) return { on, free: null, state: 'unknown' };
  if (free === 0) return { on, free, state: 'full' };
  return { on, free, state: free <= few ? 'few' : 'open' };
}

/** Returns the beginning of a title, on one line, that has at most TITLE_BYTES bytes. */
function clipped(title) {
  const encoder = new TextEncoder();
  let text = '';
  let left = TITLE_BYTES;
  for (const character of title.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, ' ')) {
    left -= encoder.encode(character).length;
    if (left < 0) break;
    text += character;
  }
  return text;
}
