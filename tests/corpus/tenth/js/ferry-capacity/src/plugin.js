import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

step(
  'Ferry.Capacity',
  {
    description: 'Asks for the free lanes of some sailings and proposes the first with enough room.',
    input: object({ sailings: array(string(), { minItems: 1, maxItems: 20 }), lanes: integer({ minimum: 1 }) }),
    output: object({ proposed: string(), free: array(object({ sailing: string(), lanes: integer() })) }),
    determinism: 'external',
  },
  ({ sailings, lanes }) => {
    const answers = tools.callAll(sailings.map((sailing) => ({ operator: 'Ferry.Load', args: { sailing } })));
    const free = answers.map(({ ok }, i) => ({ sailing: sailings[i], lanes: ok.free_lanes }));
    const roomy = free.find((sailing) => sailing.lanes >= lanes);
    if (!roomy) throw new Failure('MISSING_REQUIRED_CONTEXT', `no sailing has ${lanes} free lanes`);
    return { proposed: roomy.sailing, free };
  },
);
