import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const MINUTES = { strings: 12, winds: 10, brass: 10, percussion: 15 };

/** Shuffles a copy of the list with the random numbers of the job. */
function shuffled(list) {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [copy[i], copy[j]] = [copy[j], copy[i]];
  }
  return copy;
}

/** Writes minutes after midnight as a time of day. */
function clockTime(minutes) {
  const hours = String(Math.floor(minutes / 60)).padStart(2, '0');
  return `${hours}:${String(minutes % 60).padStart(2, '0')}`;
}

step(
  'Audition.Order',
  {
    description: 'Draws the order of a blind audition and gives each candidate a screen number and a time.',
    input: object({
      orchestra: string({ minLength: 1 }),
      section: schema.oneOf('strings', 'winds', 'brass', 'percussion'),
      start: integer({ minimum: 0, maximum: 1200 }),
      pause_after: optional(integer({ minimum: 1, maximum: 50 })),
    }),
    output: object({
      section: string(),
      slots: array(object({ screen: integer(), candidate: string(), at: string() })),
    }),
    // The order is drawn at random, so two jobs get different orders.
    determinism: 'stable',
  },
  (input) => {
    const roster = tools.call('Candidates.List', { orchestra: input.orchestra, section: input.section });
    const present = roster.candidates.filter((candidate) => !candidate.withdrawn);
    if (present.length === 0) throw new Failure('MISSING_REQUIRED_CONTEXT', `no candidate is left for ${input.section}`);
    const length = MINUTES[input.section];
    const pauseAfter = input.pause_after ?? 6;
    // The list is sorted first, so the order of the roster has no influence on the draw.
    const sorted = present.map(({ name }) => name).sort();
    const slots = shuffled(sorted).map((candidate, at) => {
      const pauses = Math.floor(at / pauseAfter) * 20;
      return { screen: at + 1, candidate, at: clockTime((input.start + at * length + pauses) % 1440) };
    });
    return { section: input.section, slots };
  },
);
