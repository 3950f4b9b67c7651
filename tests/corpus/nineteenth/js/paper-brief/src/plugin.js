// Writes a short abstract of a paper, with a model if the budget allows one.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

/** A text up to this number of characters is its own abstract. */
const SHORT = 300;

/** Longest abstract in the reading list, in characters. */
const LONGEST = 900;

step(
  'Paper.Brief',
  {
    description: 'Writes an abstract of a paper, from a model or from its first sentences.',
    input: object({
      title: string({ minLength: 1, maxLength: 300 }),
      text: string({ maxLength: 60000 }),
      model: string({ minLength: 1 }),
    }),
    output: object({ title: string(), abstract: string(), words: integer(), source: oneOf('text', 'model', 'lead') }),
    // The abstract is the answer of a model.
    determinism: 'stable',
  },
  ({ title, text, model }) => {
    const clean = text.replace(/\s+/g, ' ').trim();
    if (clean === '') throw new Failure('INVALID_INPUT', `the paper "${title}" has no text`);
    if ([...clean].length <= SHORT) return brief(title, clean, 'text');
    const answer = asked(title, clean, model);
    if (answer === undefined) return brief(title, lead(clean), 'lead');
    if (answer.trim() === '') throw new Failure('DEPENDENCY_UNAVAILABLE', `the model said nothing about "${title}"`);
    return brief(title, cut(answer.trim()), 'model');
  },
);

/** Asks the model. Returns undefined if the budget of the job does not cover the question. */
function asked(title, text, model) {
  const prompt = `Summarize the paper "${title}" in at most five sentences:\n\n${text}`;
  try {
    return tools.call('Llm.Chat', { model, prompt, params: { max_tokens: 300 } }).text;
  } catch (error) {
    if (error instanceof Failure && error.code === 'BUDGET_EXCEEDED') {
      console.warn(`no budget for "${title}": using its first sentences`);
      return undefined;
    }
    throw error;
  }
}

/** Returns the first sentences of a text, as many as fit. */
function lead(text) {
  const sentences = text.split(/(?<=[.!?]) /);
  let taken = sentences[0];
  for (const sentence of sentences.slice(1)) {
    if ([...taken].length + [...sentence].length + 1 > LONGEST) break;
    taken += ` ${sentence}`;
  }
  return cut(taken);
}

/** Cuts a text at the longest length, between two characters. */
function cut(text) {
  const characters = [...text];
  return characters.length <= LONGEST ? text : `${characters.slice(0, LONGEST - 1).join('')}…`;
}

function brief(title, abstract, source) {
  return { title, abstract, words: abstract.split(' ').filter(Boolean).length, source };
}
