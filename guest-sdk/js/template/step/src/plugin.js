import { Failure, schema, step } from '../latchwork/index.js';

const { object, string } = schema;

step(
  '{{Noun}}.Greet',
  {
    description: 'Greets a person by name.',
    input: object({ name: string() }),
    output: object({ greeting: string(), id: string(), at: string() }),
    // Stable and not pure: equal input gives a different id in each job.
    determinism: 'stable',
  },
  (input, context) => {
    if (input.name.trim() === '') throw new Failure('INVALID_INPUT', 'the name is empty');
    console.log(`greeting ${input.name} for ${context.actor}`);
    return { greeting: `Hello, ${input.name}!`, id: crypto.randomUUID(), at: new Date().toISOString() };
  },
);
