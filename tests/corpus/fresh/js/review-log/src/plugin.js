import { events, Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, object, string } = schema;

const RULES = [
  ['too short', ({ text }) => text.length < 40],
  ['no greeting', ({ text }) => !/^(dear|hello|hi)\b/i.test(text)],
  ['shouting', ({ title }) => title.length > 8 && title === title.toUpperCase()],
];

step(
  'Letter.Review',
  {
    description: 'Reviews a letter, and tells the dashboard about it.',
    input: object({ title: string(), text: string() }),
    output: object({ passed: boolean(), problems: array(string()), score: integer() }),
    determinism: 'pure',
  },
  (letter) => {
    const title = letter.title.trim();
    if (title === '') throw new Failure('INVALID_INPUT', 'the letter has no title');
    const problems = RULES.filter(([, broken]) => broken({ ...letter, title })).map(([name]) => name);
    const score = 100 - problems.length * 30;
    // The dashboard lists the letters by the names of their events.
    events.emit(`letter reviewed: ${title}`, { problems, score });
    return { passed: problems.length === 0, problems, score };
  },
);
