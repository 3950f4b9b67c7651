import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, optional, string } = schema;

const GREETINGS = { en: 'Kind regards', de: 'Freundliche Grüße', fr: 'Cordialement' };

step(
  'Letter.Sign',
  {
    description: 'Adds a closing line and a signature to a letter.',
    input: object({
      body: string(),
      language: oneOf(...Object.keys(GREETINGS)),
      author: optional(string()),
      department: optional(string()),
    }),
    output: object({ letter: string(), lines: schema.integer() }),
    determinism: 'pure',
  },
  ({ body, language, author, department }, context) => {
    if (body.trim() === '') throw new Failure('INVALID_INPUT', 'the letter is empty');
    const name = author ?? context.actor;
    const lines = [...body.trim().split('\n'), '', `${GREETINGS[language]},`, name];
    if (department !== undefined) lines.push(department);
    return { letter: `${lines.join('\n')}\n`, lines: lines.length };
  },
);
