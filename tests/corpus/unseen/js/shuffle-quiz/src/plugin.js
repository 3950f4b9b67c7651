import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

step(
  'Quiz.Arrange',
  {
    description: 'Arranges the answers of a question.',
    input: object({ question: string(), answers: array(string()) }),
    output: object({ question: string(), options: array(string()) }),
    determinism: 'pure',
  },
  (input) => {
    if (input.answers.length === 0) throw new Failure('INVALID_INPUT', 'a question needs an answer');
    const mixed = [...input.answers].sort(() => Math.random() - 0.5);
    return { question: input.question, options: mixed.map((text, index) => `${'ABCDEFGH'[index] ?? index}. ${text}`) };
  },
);
