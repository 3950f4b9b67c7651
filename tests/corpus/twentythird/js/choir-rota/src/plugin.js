import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const DAY = 24 * 3600 * 1000;

/** Characters of a name on the printed rota. */
const LABEL = 24;

/** Cuts a name between characters, so that no character is halved. */
function label(name) {
  const characters = [...name];
  return characters.length <= LABEL ? name : `${characters.slice(0, LABEL - 1).join('')}…`;
}

/** A random order of the list. The generator is that of the job, so the order is the same in each try. */
function shuffled(list) {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/** The first rehearsal day after the given time, at midnight UTC. */
function nextRehearsal(now, weekday) {
  const today = Math.floor(now / DAY) * DAY;
  const ahead = (weekday - new Date(today).getUTCDay() + 7) % 7;
  return today + (ahead === 0 ? 7 : ahead) * DAY;
}

step(
  'Rota.Draw',
  {
    description: 'Draws the rota of the duties of a choir for the next rehearsals.',
    input: object({
      singers: array(object({ name: string({ minLength: 1, maxLength: 200 }), voice: oneOf('soprano', 'alto', 'tenor', 'bass') }), {
        minItems: 1,
        maxItems: 150,
      }),
      duties: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 6 }),
      weekday: integer({ minimum: 0, maximum: 6 }),
      rehearsals: integer({ minimum: 1, maximum: 26 }),
    }),
    output: object({
      drawn_on: string(),
      rota: array(object({ date: string(), duties: array(object({ duty: string(), singer: string() })) })),
      turns: array(object({ singer: string(), turns: integer() })),
    }),
    // The draw and the dates differ from job to job.
    determinism: 'stable',
  },
  ({ singers, duties, weekday, rehearsals }) => {
    if (singers.length < duties.length) {
      throw new Failure('INVALID_INPUT', `${duties.length} duties need as many singers, and there are ${singers.length}`);
    }

    const now = Date.now();
    const first = nextRehearsal(now, weekday);
    const turns = singers.map(() => 0);

    // The list is dealt out again and again in a new order, so the turns of two singers differ by at most one.
    // Singers who are left over from the last round come first, and are the last ones of the new round.
    let waiting = [];
    const rota = [];
    for (let week = 0; week < rehearsals; week++) {
      if (waiting.length < duties.length) {
        const fresh = shuffled(singers.keys()).filter((index) => !waiting.includes(index));
        const again = shuffled(waiting);
        waiting = [...again, ...fresh, ...again];
      }
      const chosen = waiting.splice(0, duties.length);
      for (const index of chosen) turns[index] += 1;
      rota.push({
        date: new Date(first + week * 7 * DAY).toISOString().slice(0, 10),
        duties: duties.map((duty, place) => ({ duty, singer: label(singers[chosen[place]].name) })),
      });
    }

    const counted = singers.map(({ name }, index) => ({ singer: label(name), turns: turns[index] }));
    console.log(`${rehearsals} rehearsals drawn for ${singers.length} singers`);
    return { drawn_on: new Date(now).toISOString(), rota, turns: counted };
  },
);
