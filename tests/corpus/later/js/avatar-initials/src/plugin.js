import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

const COLORS = ['amber', 'blue', 'coral', 'green', 'indigo', 'olive', 'plum', 'teal'];

/** Returns the initials of a name: "Ada Lovelace" is AL. */
function initials(name) {
  const words = name.trim().split(/\s+/);
  const first = words[0][0];
  const last = words.length > 1 ? words.at(-1)[0] : '';
  return (first + last).toUpperCase();
}

/** Returns the color of a name. Equal names have equal colors. */
function color(name) {
  let sum = 0;
  for (const char of name) sum += char.codePointAt(0);
  return COLORS[sum % COLORS.length];
}

step(
  'Avatar.Draw',
  {
    description: 'Chooses initials and a color for people without a picture.',
    input: object({ names: array(string()) }),
    output: object({ avatars: array(object({ initials: string(), color: string() })) }),
    determinism: 'pure',
  },
  ({ names }) => {
    const empty = names.findIndex((name) => name.trim() === '');
    if (empty >= 0) throw new Failure('INVALID_INPUT', `name ${empty} is empty`);
    return { avatars: names.map((name) => ({ initials: initials(name), color: color(name) })) };
  },
);
