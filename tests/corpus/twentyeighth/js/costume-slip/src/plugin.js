// Wardrobe of a theatre: a costume that goes to the workshop leaves a card in the file and a slip on its rail.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, oneOf } = schema;

const cardOf = (ref) => `card/${ref}`;
const slipOf = (ref) => `slip/${ref}`;

function card(args) {
  return JSON.stringify({ costume: args.costume, production: args.production, work: args.work, note: args.note });
}

function slip(args) {
  return `${args.costume}: in the workshop (${args.work})`;
}

tool(
  'Costume.SendToWorkshop',
  {
    description: 'Files the card of a costume that goes to the workshop, and hangs a slip on its rail.',
    input: object({
      costume: string({ minLength: 1, maxLength: 120 }),
      production: string({ minLength: 1, maxLength: 120 }),
      work: oneOf('alter', 'mend', 'clean'),
      note: string({ maxLength: 4000 }),
    }),
    output: object({ ref: string() }),
    effects: ['internal_write'],
    compensate: (args, result, key) => {
      const filed = kv.text(cardOf(key));
      if (filed === undefined) throw new Failure('POLICY_DENIED', 'the card is no longer in the file');
      if (filed !== card(args)) throw new Failure('POLICY_DENIED', 'the workshop has written on the card since');
      kv.delete(cardOf(key));
      // The dresser takes the slip down when the costume is back on the rail. Then it was used, and a person has to look.
      if (!kv.delete(slipOf(key))) throw new Failure('POLICY_DENIED', 'the slip was taken down: the costume is back already');
      return new Output(null);
    },
  },
  (args, context) => {
    const ref = context.externalKey;
    kv.set(cardOf(ref), card(args));
    try {
      kv.set(slipOf(ref), slip(args));
    } catch (error) {
      // The card is filed by now.
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the slip could not be hung: ${error.message}`, { applied: 'unknown' });
    }
    return { ref };
  },
);

tool(
  'Slip.TakeDown',
  {
    description: 'Takes the slip of a costume down when the costume is back on its rail.',
    input: object({ ref: string({ minLength: 1, maxLength: 160 }) }),
    output: object({ taken: oneOf(true) }),
    effects: ['internal_write'],
  },
  (args) => {
    if (!kv.delete(slipOf(args.ref))) throw new Failure('INVALID_INPUT', 'there is no such slip');
    return { taken: true };
  },
);
