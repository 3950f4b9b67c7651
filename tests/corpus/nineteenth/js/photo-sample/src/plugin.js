// Picks photos of an archive for a check by eye.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Largest number of photos in one delivery of the scanner. */
const PHOTOS = 2000;

const photo = object({
  file: string({ pattern: '^[A-Za-z0-9_.-]{1,40}$' }),
  box: integer({ minimum: 1, maximum: 5000 }),
});

step(
  'Photo.Sample',
  {
    description: 'Picks photos at random for a check by eye, in the order of their boxes.',
    input: object({
      delivery: string({ minLength: 1, maxLength: 60 }),
      percent: integer({ minimum: 1, maximum: 100 }),
      photos: array(photo, { maxItems: PHOTOS }),
    }),
    output: object({ delivery: string(), of: integer(), picked: array(photo) }),
    // Each delivery is checked at other places.
    determinism: 'stable',
  },
  ({ delivery, percent, photos }) => {
    if (photos.length === 0) throw new Failure('INVALID_INPUT', `the delivery ${delivery} has no photos`);
    const wanted = Math.ceil((photos.length * percent) / 100);
    const picked = drawn(photos, wanted);
    picked.sort((one, other) => one.box - other.box || (one.file < other.file ? -1 : Number(one.file > other.file)));
    console.log(`${delivery}: ${picked.length} of ${photos.length} photos`);
    return { delivery, of: photos.length, picked };
  },
);

/** Draws a number of items from a list, each at most once. */
function drawn(list, count) {
  const rest = [...list];
  const numbers = new Uint32Array(count);
  crypto.getRandomValues(numbers);
  for (let at = 0; at < count; at++) {
    const other = at + Math.floor((numbers[at] / 2 ** 32) * (rest.length - at));
    [rest[at], rest[other]] = [rest[other], rest[at]];
  }
  return rest.slice(0, count);
}
