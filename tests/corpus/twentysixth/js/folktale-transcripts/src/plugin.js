import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

tool(
  'Tale.Keep',
  {
    description: 'Keeps the transcript of a folk tale with its card.',
    input: object({
      title: string({ minLength: 1, maxLength: 120 }),
      narrator: string({ minLength: 1, maxLength: 80 }),
      text: string({ maxLength: 60000 }),
    }),
    output: object({ tale: string(), words: integer() }),
    effects: ['internal_write'],
  },
  ({ title, narrator, text }, { externalKey }) => {
    const words = text.split(/\s+/).filter((word) => word !== '').length;
    if (words === 0) throw new Failure('INVALID_INPUT', `${title} has no words`);
    kv.set(`card/${externalKey}`, JSON.stringify({ title, narrator, words }));
    kv.set(`text/${externalKey}`, text);
    return new Output(
      { tale: externalKey, words },
      { changes: [{ resourceType: 'tale', resourceId: externalKey, operation: 'create', version: String(words) }] },
    );
  },
);

tool(
  'Tale.Card',
  {
    description: 'Returns the card of a folk tale.',
    input: object({ tale: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ title: string(), narrator: string(), words: integer() }),
  },
  ({ tale }) => {
    const card = kv.text(`card/${tale}`);
    if (card === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no tale ${tale}`);
    return JSON.parse(card);
  },
);
