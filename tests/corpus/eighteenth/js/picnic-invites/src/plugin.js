import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;

// One mail per household: the children are named in the mail of their parents.
function salutation(household) {
  const names = household.names;
  if (names.length === 1) return names[0];
  return `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;
}

function letter(input, household) {
  return {
    to: household.email,
    subject: `Picnic on ${input.day}`,
    text: [
      `Dear ${salutation(household)},`,
      '',
      `the club meets on ${input.day} at ${input.place}.`,
      `Please bring food for ${household.names.length}.`,
    ].join('\n'),
  };
}

step(
  'Picnic.Invite',
  {
    description: 'Sends the invitations of a club picnic, once for each picnic.',
    input: object({
      club: string({ minLength: 1 }),
      day: string(),
      place: string({ minLength: 1 }),
      households: array(object({ email: string({ minLength: 3 }), names: array(string(), { minItems: 1 }) }), {
        maxItems: 300,
      }),
    }),
    output: object({ sent: integer(), failed: array(object({ email: string(), reason: string() })) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  (input) => {
    if (!DAY.test(input.day)) throw new Failure('INVALID_INPUT', `${input.day} is no day`);
    const addresses = input.households.map((household) => household.email.toLowerCase());
    if (new Set(addresses).size !== addresses.length) {
      throw new Failure('INVALID_INPUT', 'two households have the same address');
    }
    // A second job for the same picnic does not write to the members again.
    const actionKey = `picnic:${input.club}:${input.day}`;
    const answers = tools.callAll(
      input.households.map((household) => ({ operator: 'Mail.Send', args: letter(input, household), actionKey })),
    );
    const failed = [];
    answers.forEach((answer, at) => {
      if (answer.failure) failed.push({ email: input.households[at].email, reason: answer.failure.message });
    });
    return { sent: answers.length - failed.length, failed };
  },
);
