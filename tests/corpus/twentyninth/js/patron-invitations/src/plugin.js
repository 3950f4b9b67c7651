// Invites the patrons of a concert house to an evening, one letter for each patron.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, optional, string } = schema;

// The box office and the office of the friends spell names differently: "José Müller", "JOSE MULLER ". A patron has
// one handle, whatever the spelling.
function handle(name) {
  return name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '');
}

function letter(evening, patron) {
  const seats = patron.seats === 1 ? 'one seat is' : `${patron.seats} seats are`;
  const lines = [
    `Dear ${patron.name},`,
    '',
    `we invite you to "${evening.title}" on ${evening.date}. At the desk ${seats} kept in your name.`,
  ];
  if (patron.note !== undefined) lines.push('', patron.note);
  return lines.join('\n');
}

step(
  'Patrons.Invite',
  {
    description: 'Sends the invitations of an evening.',
    input: object({
      evening: object({ id: string({ minLength: 1, maxLength: 40 }), title: string({ maxLength: 120 }), date: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }) }),
      patrons: array(
        object({
          name: string({ minLength: 1, maxLength: 120 }),
          address: string({ minLength: 3, maxLength: 200 }),
          seats: integer({ minimum: 1, maximum: 8 }),
          note: optional(string({ maxLength: 500 })),
        }),
        { minItems: 1, maxItems: 400 },
      ),
    }),
    output: object({
      invited: array(string()),
      failed: array(object({ address: string(), code: string() })),
      seats: integer(),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ evening, patrons }) => {
    const addresses = new Set();
    for (const { address } of patrons) {
      if (addresses.has(address)) throw new Failure('INVALID_INPUT', `${address} is on the list twice`);
      addresses.add(address);
    }

    const invited = [];
    const failed = [];
    let seats = 0;
    for (const patron of patrons) {
      // One invitation for each patron and evening, also if the list is sent again with other people on it.
      const actionKey = JSON.stringify(['invitation', evening.id, handle(patron.name)]);
      try {
        tools.call('Letter.Post', { to: patron.address, text: letter(evening, patron) }, { actionKey });
        invited.push(patron.address);
        seats += patron.seats;
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        failed.push({ address: patron.address, code: error.code });
      }
    }
    console.log(`${invited.length} of ${patrons.length} invitations for ${evening.id}`);
    return { invited, failed, seats };
  },
);
