import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, integer, number, object, optional, string } = schema;

tool(
  'Survey.Submit',
  {
    description: 'Keeps the answer sheet of a visitor, with the remarks.',
    input: object({
      exhibition: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      marks: array(integer({ minimum: 1, maximum: 5 }), { minItems: 1, maxItems: 30 }),
      remarks: optional(string()),
    }),
    output: object({ sheet: string(), with_remarks: boolean() }),
    effects: ['internal_write'],
  },
  (args, context) => {
    const key = context.externalKey;
    if (args.marks.every((mark) => mark === args.marks[0]) && args.marks.length >= 10) {
      throw new Failure('INVALID_INPUT', 'all marks are equal');
    }
    const remarks = (args.remarks ?? '').trim();
    kv.set(`sheet/${key}`, JSON.stringify({ exhibition: args.exhibition, marks: args.marks }));
    if (remarks !== '') kv.set(`remarks/${key}`, `>${remarks}`);
    return new Output({ sheet: key, with_remarks: remarks !== '' }, { receipt: { sheet: key } });
  },
);

tool(
  'Survey.Mean',
  {
    description: 'Gives the mean mark of an answer sheet.',
    input: object({ sheet: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ found: boolean(), mean: number() }),
  },
  (args) => {
    const text = kv.text(`sheet/${args.sheet}`);
    if (text === undefined) return { found: false, mean: 0 };
    const { marks } = JSON.parse(text);
    return { found: true, mean: marks.reduce((sum, mark) => sum + mark, 0) / marks.length };
  },
);
