import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const DAYS = 14;
const member = object({ id: string(), name: string(), email: string(), owes_cents: integer({ minimum: 1 }) });

const money = (cents) => `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;

function deadline() {
  const day = new Date();
  day.setUTCDate(day.getUTCDate() + DAYS);
  return day.toISOString().slice(0, 10);
}

function letter({ name, owes_cents }, year, due) {
  return [`Dear ${name},`, '', `your membership dues of ${year} are open: ${money(owes_cents)} EUR.`, `Please pay by ${due}.`].join('\n');
}

step(
  'Dues.Remind',
  {
    description: 'Sends each member with open dues one reminder for the year.',
    input: object({ year: integer({ minimum: 2000, maximum: 2100 }), members: array(member, { minItems: 1, maxItems: 100 }) }),
    output: object({ due: string(), sent: array(string()), failed: array(string()) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ year, members }) => {
    if (new Set(members.map(({ id }) => id)).size !== members.length) throw new Failure('INVALID_INPUT', 'a member is named twice');
    const due = deadline();
    const answers = tools.callAll(
      members.map((one) => ({
        operator: 'Mail.Send',
        args: { to: one.email, subject: `Membership dues ${year}`, text: letter(one, year, due) },
        // One reminder for a member and a year, also if the treasurer starts the job again.
        actionKey: `dues-reminder:${year}:${one.id}`,
      })),
    );
    const [sent, failed] = [[], []];
    answers.forEach(({ failure }, i) => {
      if (failure !== undefined) console.warn(`${members[i].id}: ${failure.code}: ${failure.message}`);
      (failure === undefined ? sent : failed).push(members[i].id);
    });
    return { due, sent, failed };
  },
);
