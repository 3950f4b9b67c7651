import { schema, step } from '../../../../../../guest-sdk/js/index.js';

const { boolean, object, string } = schema;
const LENGTH = 40;

step(
  'Article.Excerpt',
  {
    description: 'Makes a short excerpt of an article.',
    input: object({ text: string() }),
    output: object({ excerpt: string(), shortened: boolean() }),
    determinism: 'pure',
  },
  ({ text }) => {
    const line = text.replace(/\s+/g, ' ').trim();
    const shortened = line.length > LENGTH;
    return { excerpt: shortened ? `${line.slice(0, LENGTH)}…` : line, shortened };
  },
);
