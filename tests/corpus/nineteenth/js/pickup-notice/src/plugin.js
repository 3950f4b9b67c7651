// Writes to households about the day on which their bulky waste is collected.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const KINDS = { bulky: 'bulky waste', garden: 'garden waste', metal: 'scrap metal' };

const household = object({
  name: string({ minLength: 1, maxLength: 100 }),
  street: string({ minLength: 1, maxLength: 80 }),
  number: string({ minLength: 1, maxLength: 8 }),
  mail: string({ minLength: 3, maxLength: 200 }),
});

step(
  'Pickup.Announce',
  {
    description: 'Sends one mail to each household about the next collection of waste.',
    input: object({
      day: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      kind: oneOf('bulky', 'garden', 'metal'),
      households: array(household, { maxItems: 300 }),
    }),
    output: object({ day: string(), mails: integer(), streets: array(string()) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ day, kind, households }) => {
    if (households.length === 0) throw new Failure('INVALID_INPUT', `no household has ${KINDS[kind]} on ${day}`);
    const streets = [];
    for (const home of households) {
      // A second job for the same day sends no second mail.
      tools.call('Mail.Send', letter(day, kind, home), { actionKey: `pickup:${kind}:${day}:${home.street}` });
      if (!streets.includes(home.street)) streets.push(home.street);
    }
    console.log(`${day}: ${households.length} households in ${streets.length} streets`);
    return { day, mails: households.length, streets };
  },
);

/** Writes the mail for one household. */
function letter(day, kind, { name, street, number, mail }) {
  const body = [
    `Dear ${name},`,
    `we collect your ${KINDS[kind]} on ${day}. Please put it in front of ${street} ${number} before six.`,
    advice(kind),
    'Your waste office',
  ];
  return { to: mail, subject: `Collection of ${KINDS[kind]} on ${day}`, body: `${body.join('\n\n')}\n` };
}

/** Returns the advice for a kind of waste. */
function advice(kind) {
  if (kind === 'bulky') return 'Single pieces may have at most fifty kilograms.';
  if (kind === 'garden') return 'Tie branches together with a natural string.';
  return 'Empty all tanks and bottles before you put them out.';
}
