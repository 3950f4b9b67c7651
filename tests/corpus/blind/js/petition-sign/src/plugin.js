import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entryOf = ({ petition, mail }) => `signature/${petition}/${mail.toLowerCase()}`;
const signed = (entry) => new Output({ entry }, { changes: [{ resourceType: 'signature', resourceId: entry, operation: 'update' }] });

tool(
  'PetitionSign.Sign',
  {
    description: 'Signs a petition, or replaces the comment of an earlier signature.',
    input: object({ petition: string({ minLength: 1 }), mail: string(), comment: string() }),
    output: object({ entry: string() }),
    effects: ['internal_write'],
    reconcile: (args) => {
      const entry = entryOf(args);
      return kv.get(entry) === undefined ? 'did-not-happen' : happened(signed(entry));
    },
  },
  (args) => {
    if (!/^[^@\s]+@[^@\s]+$/.test(args.mail)) throw new Failure('INVALID_INPUT', 'the address is not valid');
    const entry = entryOf(args);
    kv.set(entry, JSON.stringify({ comment: args.comment }));
    return signed(entry);
  },
);
