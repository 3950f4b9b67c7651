import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

const letter = () => LETTERS[Math.floor(Math.random() * LETTERS.length)];

step(
  'Voucher.Make',
  {
    description: 'Makes vouchers for a campaign and registers them.',
    input: object({ campaign: string(), count: integer({ minimum: 1, maximum: 20 }), days: integer({ minimum: 1, maximum: 365 }) }),
    output: object({ vouchers: array(string()), refused: array(string()), until: string() }),
    // The codes differ between jobs, and the register may refuse some of them.
    determinism: 'external',
  },
  ({ campaign, count, days }, context) => {
    if (campaign.trim() === '') throw new Failure('INVALID_INPUT', 'the campaign has no name');
    const until = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
    const codes = Array.from({ length: count }, () => Array.from({ length: 8 }, letter).join(''));
    const answers = tools.callAll(codes.map((code) => ({ operator: 'Voucher.Register', args: { campaign, code, until } })));
    const vouchers = codes.filter((_, at) => answers[at].failure === undefined);
    const refused = codes.filter((_, at) => answers[at].failure !== undefined);
    events.emit('vouchers-made', { campaign, count: vouchers.length, job: context.jobId });
    console.log(`${vouchers.length} vouchers, ${refused.length} refused`);
    return { vouchers, refused, until };
  },
);
