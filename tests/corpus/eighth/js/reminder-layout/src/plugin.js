import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

// Layout.Render is a pure tool: equal text and width give an equal picture.
function render(text, width) {
  return tools.call('Layout.Render', { text, width }, { actionKey: `render-${crypto.randomUUID()}` });
}

step(
  'Reminder.Layout',
  {
    description: 'Lays out the pages of a reminder letter.',
    input: object({ name: string(), paragraphs: array(string()), width: integer({ minimum: 20, maximum: 200 }) }),
    output: object({ pages: array(object({ picture: string(), lines: integer() })) }),
    determinism: 'pure',
  },
  ({ name, paragraphs, width }) => {
    if (name.trim() === '') throw new Failure('INVALID_INPUT', 'the letter needs a name');
    const pages = [];
    for (let at = 0; at < paragraphs.length; at += 3) {
      const greeting = at === 0 ? `Dear ${name},\n\n` : '';
      const { picture, lines } = render(greeting + paragraphs.slice(at, at + 3).join('\n\n'), width);
      pages.push({ picture, lines });
    }
    return { pages };
  },
);
