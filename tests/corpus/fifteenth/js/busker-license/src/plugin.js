import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

/** Districts with the latest hour at which amplified music may be played. */
const DISTRICTS = { harbor: 22, market: 20, station: 19 };

/** The number on the card of the busker. It has to be short enough to be read out over the radio. */
const cardNumber = (key) => `B-${key.slice(-6)}`;

/** Makes the output of a license from its entry. */
function output(number, entry) {
  const { act, district, until_hour } = JSON.parse(entry);
  return new Output(
    { number, act, district, until_hour },
    {
      receipt: { number },
      changes: [{ resourceType: 'busker-license', resourceId: number, operation: 'create', version: act }],
    },
  );
}

tool(
  'Busker.License',
  {
    description: 'Registers the license of a street musician for a district.',
    input: object({
      act: string({ minLength: 1, maxLength: 200 }),
      district: oneOf('harbor', 'market', 'station'),
      amplified: schema.boolean(),
      players: integer({ minimum: 1, maximum: 12 }),
    }),
    output: object({ number: string(), act: string(), district: string(), until_hour: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const number = cardNumber(key);
      const entry = kv.text(`license/${number}`);
      return entry === undefined ? 'did-not-happen' : happened(output(number, entry));
    },
  },
  (args, context) => {
    if (args.amplified && args.players > 5) {
      throw new Failure('POLICY_DENIED', 'an amplified act has at most five players');
    }
    const until = args.amplified ? DISTRICTS[args.district] : 23;
    const number = cardNumber(context.externalKey);
    const entry = JSON.stringify({ act: args.act, district: args.district, players: args.players, until_hour: until });
    kv.set(`license/${number}`, entry);
    return output(number, entry);
  },
);
