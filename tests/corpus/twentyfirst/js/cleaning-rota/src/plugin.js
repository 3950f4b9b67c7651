import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, optional, string } = schema;

const ROUNDS = 25;

function shuffled(list) {
  const made = [...list];
  for (let i = made.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [made[i], made[j]] = [made[j], made[i]];
  }
  return made;
}

// Number of people who get the same room as last time.
function repeats(rooms, people, last) {
  return rooms.filter((room, i) => last[room] === people[i % people.length]).length;
}

step(
  'Rota.Draw',
  {
    description: 'Draws who cleans which room, if possible not the same room as last time.',
    input: object({
      people: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 60, uniqueItems: true }),
      rooms: array(string({ minLength: 1, maxLength: 60 }), { minItems: 1, maxItems: 60, uniqueItems: true }),
      last: optional({ type: 'object', additionalProperties: string({ maxLength: 60 }) }),
    }),
    output: object({
      draw: string(),
      drawn_on: string(),
      rounds: integer(),
      fresh: boolean(),
      rota: array(object({ room: string(), person: string() })),
    }),
    // The draw follows from the input, the clock and the random numbers of the job. No tool is called.
    determinism: 'stable',
  },
  ({ people, rooms, last = {} }) => {
    const strange = Object.keys(last).filter((room) => !rooms.includes(room)).sort();
    if (strange.length > 0) throw new Failure('INVALID_INPUT', `the last rota has the unknown room ${strange[0]}`);
    let best = shuffled(people);
    let rounds = 1;
    // A rota without repeats may not exist, so the number of rounds is fixed.
    while (rounds < ROUNDS && repeats(rooms, best, last) > 0) {
      const next = shuffled(people);
      if (repeats(rooms, next, last) < repeats(rooms, best, last)) best = next;
      rounds += 1;
    }
    return {
      draw: crypto.randomUUID(),
      drawn_on: new Date().toISOString().slice(0, 10),
      rounds,
      fresh: repeats(rooms, best, last) === 0,
      rota: rooms.map((room, i) => ({ room, person: best[i % best.length] })),
    };
  },
);
