// Sends the notices of a board to its readers. Each notice has an action key, so that a second job with the same board
// does not send a notice again.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 24);

step(
  'Notice.Fanout',
  {
    description: 'Sends the notices of a board to its readers.',
    input: object({ board: string(), notices: array(string({ minLength: 1 }), { maxItems: 50 }) }),
    output: object({ sent: integer(), failed: integer() }),
    determinism: 'external',
  },
  ({ board, notices }) => {
    if (notices.length === 0) throw new Failure('INVALID_INPUT', 'the board has no notices');
    const answers = tools.callAll(
      notices.map((text) => ({
        operator: 'Notice.Send',
        args: { board, text },
        actionKey: `notice/${slug(board)}/${slug(text)}`,
      })),
    );
    const failed = answers.filter(({ failure }) => failure !== undefined).length;
    return { sent: answers.length - failed, failed };
  },
);
