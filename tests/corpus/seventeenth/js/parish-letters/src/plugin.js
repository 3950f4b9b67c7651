// Sends the quarterly letter of a parish to its families. No family gets a letter of one quarter twice, also if the
// secretary starts a second job for families that were added later.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

const family = object({
  name: string({ minLength: 1, maxLength: 80 }),
  address: string({ minLength: 3, maxLength: 200 }),
  children: optional(integer({ minimum: 0, maximum: 20 })),
});

/** A short form of a name: lower case, words joined by hyphens. */
function slug(name) {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function letter(text, { name, children = 0 }) {
  const lines = [`Dear family ${name},`, '', text];
  if (children > 0) lines.push('', 'The children are invited to the crafts afternoon on Saturday.');
  return lines.join('\n');
}

step(
  'Parish.SendLetters',
  {
    description: 'Sends the letter of a quarter to each family, once for each quarter.',
    input: object({
      quarter: string({ pattern: '^[0-9]{4}-Q[1-4]$' }),
      text: string({ minLength: 1, maxLength: 4000 }),
      families: array(family, { minItems: 1, maxItems: 300 }),
    }),
    output: object({ quarter: string(), sent: integer(), failed: array(string()) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ quarter, text, families }) => {
    const addresses = families.map(({ name, address }) => `${name} ${address}`);
    if (new Set(addresses).size < addresses.length) throw new Failure('INVALID_INPUT', 'a family is listed twice');
    const answers = tools.callAll(
      families.map((one) => ({
        operator: 'Letter.Send',
        args: { to: one.address, subject: `Parish letter ${quarter}`, text: letter(text, one) },
        actionKey: `parish-letter/${quarter}/${slug(`${one.name} ${one.address}`)}`,
      })),
    );
    const failed = [];
    answers.forEach(({ failure }, index) => {
      if (failure !== undefined) failed.push(`${families[index].name}: ${failure.message}`);
    });
    return { quarter, sent: families.length - failed.length, failed };
  },
);
