import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const ELLIPSIS = '…';

// Cuts a text to a width, at a space if there is one in the last third.
function fitted(text, width) {
  if (text.length <= width) return text;
  const kept = text.slice(0, width - ELLIPSIS.length);
  const space = kept.lastIndexOf(' ');
  return (space > (width * 2) / 3 ? kept.slice(0, space) : kept).trimEnd() + ELLIPSIS;
}

function tidy(text) {
  return text.replace(/\s+/g, ' ').trim();
}

function caption({ title, artist, year }, width) {
  const made = year === undefined ? '' : `, ${year}`;
  const name = tidy(artist);
  const credit = name === '' ? `unknown artist${made}` : `${fitted(name, 30)}${made}`;
  // The title gets the room that the credit leaves, but never fewer than 12 characters.
  const room = Math.max(12, width - credit.length - 3);
  return `${fitted(tidy(title), room)} – ${credit}`;
}

step(
  'Gallery.Caption',
  {
    description: 'Writes the captions below the works of an exhibition, each in one line.',
    input: object({
      works: array(
        object({
          id: string({ minLength: 1, maxLength: 40 }),
          title: string({ maxLength: 400 }),
          artist: string({ maxLength: 200 }),
          year: optional(integer({ minimum: 1000, maximum: 2100 })),
        }),
        { minItems: 1, maxItems: 500 },
      ),
      width: optional(integer({ minimum: 30, maximum: 120 })),
    }),
    output: object({ captions: array(object({ id: string(), caption: string() })), shortened: integer() }),
  },
  ({ works, width = 72 }) => {
    const seen = new Set();
    const captions = [];
    let shortened = 0;
    for (const work of works) {
      if (seen.has(work.id)) throw new Failure('INVALID_INPUT', `the work ${work.id} is listed twice`);
      if (tidy(work.title) === '') throw new Failure('INVALID_INPUT', `the work ${work.id} has no title`);
      seen.add(work.id);
      const line = caption(work, width);
      if (line.includes(ELLIPSIS)) shortened += 1;
      captions.push({ id: work.id, caption: line });
    }
    return { captions, shortened };
  },
);
