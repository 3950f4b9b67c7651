import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, object, optional, string } = schema;

const text = (most) => string({ minLength: 1, maxLength: most });

/** The text of a reminder, in the form that the practice prints on its cards. */
function wording(clinic, visit) {
  const hint = visit.hint === undefined ? '' : ` ${visit.hint}`;
  return `${clinic}: ${visit.animal} is due for ${visit.vaccine} on ${visit.due}.${hint}`;
}

step(
  'Clinic.Remind',
  {
    description: 'Sends the reminders for the vaccinations of a veterinary practice, one to the owner of each animal.',
    input: object({
      clinic: text(80),
      visits: array(
        object({
          animal: text(40),
          vaccine: text(40),
          due: string({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
          phone: string({ pattern: '^\\+[0-9]{6,15}$' }),
          hint: optional(text(120)),
        }),
        { maxItems: 200 },
      ),
    }),
    output: object({
      sent: array(object({ phone: string(), message: string() })),
      failed: array(object({ phone: string(), animal: string(), code: string() })),
    }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ clinic, visits }) => {
    for (const { animal, due } of visits) {
      const [year, month, day] = due.split('-').map(Number);
      if (month < 1 || month > 12 || day < 1 || day > 31 || year < 2000) {
        throw new Failure('INVALID_INPUT', `${animal}: ${due} is no date`);
      }
    }

    // One reminder for each vaccination, even if the list of the week is sent again by another job.
    const answers = tools.callAll(
      visits.map((visit) => ({
        operator: 'Text.Send',
        args: { to: visit.phone, text: wording(clinic, visit) },
        actionKey: JSON.stringify(['vaccination', clinic, visit.animal, visit.vaccine, visit.due]),
      })),
    );

    const [sent, failed] = [[], []];
    answers.forEach(({ ok, failure }, place) => {
      const { phone, animal } = visits[place];
      if (failure === undefined) sent.push({ phone, message: String(ok?.message_id ?? '') });
      else failed.push({ phone, animal, code: failure.code });
    });
    if (failed.length > 0) console.warn(`${failed.length} of ${visits.length} reminders were not sent`);
    return { sent, failed };
  },
);
