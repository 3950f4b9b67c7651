import { events, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

step(
  'Essay.Score',
  {
    description: 'Scores the variety of words of an essay.',
    input: object({ text: string() }),
    output: object({ score: integer(), words: integer() }),
    determinism: 'pure',
  },
  ({ text }) => {
    const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
    const score = words.length === 0 ? 0 : Math.round((100 * new Set(words).size) / words.length);
    events.emit('essay-scored', { score, at: new Date().toISOString() });
    return { score, words: words.length };
  },
);
