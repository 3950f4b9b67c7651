import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

const shades = new Map();

// Computes a shade once for each colour and step.
function shade(colour, level) {
  const key = `${colour}/${level}`;
  if (!shades.has(key)) {
    const part = (at) => Math.round((parseInt(colour.slice(at, at + 2), 16) * (4 - level)) / 4);
    shades.set(key, `#${[1, 3, 5].map((at) => part(at).toString(16).padStart(2, '0')).join('')}`);
  }
  return shades.get(key);
}

function generator(text) {
  let state = 2166136261;
  for (const character of text) state = Math.imul(state ^ character.codePointAt(0), 16777619);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

step(
  'TileMosaic.Lay',
  {
    description: 'Lays the tiles of a wall in shades of a colour.',
    input: object({
      room: string(),
      colour: string({ pattern: '^#[0-9a-f]{6}$' }),
      rows: integer({ minimum: 0, maximum: 50 }),
      columns: integer({ minimum: 0, maximum: 50 }),
    }),
    output: object({ rows: array(array(string())) }),
  },
  ({ room, colour, rows, columns }) => {
    if (rows * columns === 0) throw new Failure('INVALID_INPUT', 'the wall has no tiles');
    const random = generator(room);
    return {
      rows: Array.from({ length: rows }, () => Array.from({ length: columns }, () => shade(colour, Math.floor(random() * 4)))),
    };
  },
);
