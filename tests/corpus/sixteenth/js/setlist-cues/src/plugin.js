// Makes the cue sheet of a concert, and announces each cue to the stage displays.

import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

/** Characters of a title in the name of an event. The displays show no more. */
const SHOWN = 100;

/** Longest concert that the hall allows, in seconds. */
const CURFEW = 5 * 3600;

const track = object({
  title: string({ minLength: 1, maxLength: 300 }),
  seconds: integer({ minimum: 1, maximum: 3600 }),
  pause: optional(integer({ minimum: 0, maximum: 1800 })),
});

step(
  'Setlist.Cue',
  {
    description: 'Computes when each piece of a concert begins, and emits an event for each.',
    input: object({ tracks: array(track, { minItems: 1, maxItems: 60 }) }),
    output: object({ cues: array(object({ at: string(), title: string() })), ends: string() }),
  },
  ({ tracks }) => {
    const cues = [];
    let now = 0;
    for (const { title, seconds, pause = 0 } of tracks) {
      cues.push({ at: clockTime(now), title });
      now += seconds + pause;
    }
    if (now > CURFEW) throw new Failure('INVALID_INPUT', `the concert ends after ${clockTime(now)}, past the curfew`);
    for (const { at, title } of cues) events.emit(`cue/${at}/${short(title)}`, { at, title });
    return { cues, ends: clockTime(now) };
  },
);

/** Returns the beginning of a title, without splitting a character. */
function short(title) {
  const characters = [...title.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ').trim()];
  return characters.length <= SHOWN ? characters.join('') : `${characters.slice(0, SHOWN - 1).join('')}…`;
}

function clockTime(seconds) {
  const two = (number) => String(number).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
}
