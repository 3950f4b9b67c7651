import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const ROUNDS = 3;
const WORTH_ANOTHER = ['NETWORK_TIMEOUT', 'RATE_LIMIT', 'TEMPORARY_PROVIDER_ERROR', 'TRANSIENT_DB_LOCK', 'DEPENDENCY_UNAVAILABLE'];

step(
  'Magazine.Mail',
  {
    description: 'Sends an issue of the magazine to its subscribers.',
    input: object({
      year: integer({ minimum: 1950, maximum: 2100 }),
      issue: integer({ minimum: 1, maximum: 53 }),
      subscribers: array(
        object({
          number: string({ pattern: '^[0-9]{1,8}$' }),
          edition: { enum: ['print', 'audio'] },
        }),
        { maxItems: 300 },
      ),
    }),
    output: object({
      sent: integer(),
      failed: array(object({ number: string(), edition: string(), code: string() })),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  (input) => {
    const keyOf = ({ number, edition }) => JSON.stringify(['magazine', input.year, input.issue, number, edition]);
    const keys = new Set();
    for (const subscriber of input.subscribers) {
      const key = keyOf(subscriber);
      if (keys.has(key)) throw new Failure('INVALID_INPUT', `subscriber ${subscriber.number} gets the ${subscriber.edition} edition twice`);
      keys.add(key);
    }
    const failed = [];
    let sent = 0;
    let open = input.subscribers;
    for (let round = 1; round <= ROUNDS && open.length > 0; round++) {
      const answers = tools.callAll(
        open.map((subscriber) => ({
          operator: 'Parcel.Send',
          args: { to: subscriber.number, item: `${input.year}/${input.issue} ${subscriber.edition}` },
          actionKey: keyOf(subscriber),
        })),
      );
      const again = [];
      answers.forEach(({ failure }, i) => {
        const { number, edition } = open[i];
        if (failure === undefined) sent += 1;
        else if (round < ROUNDS && WORTH_ANOTHER.includes(failure.code)) again.push(open[i]);
        else failed.push({ number, edition, code: failure.code });
      });
      open = again;
    }
    return { sent, failed };
  },
);
