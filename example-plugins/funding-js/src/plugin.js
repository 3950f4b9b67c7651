// Writes a letter about what an applicant and a professor have in common.

import { events, Failure, schema, step } from '../../../guest-sdk/js/index.js';

const { any, array, nullable, object, optional, string, integer } = schema;

/** Maximum number of overlaps in a letter. The recipient spends about a minute on a letter. */
const OVERLAPS = 2;

const alignment = object({
  applicant: object({ name: string(), headline: string() }),
  score: integer(),
  overlaps: array(object({ interest: string(), professor_evidence: nullable(string()), applicant_evidence: string(), strength: integer() })),
  gaps: array(string()),
});

step(
  'Email.GenerateDraft',
  {
    description: 'Writes a letter from a summary and an alignment.',
    input: object({ professor: any(), alignment, position: optional(string()) }),
    output: object({ to: string(), subject: string(), body: string(), drafted_on: string(), words: integer() }),
    // The operator is stable and not pure, because its output contains the current date.
    determinism: 'stable',
    outcome: { type: 'Email.Draft', status: 'draft' },
  },
  ({ professor, alignment, position = 'a doctoral position' }) => {
    if (professor.email === null) throw new Failure('MISSING_REQUIRED_CONTEXT', `the page of ${professor.name} gives no mail address`);
    if (alignment.overlaps.length === 0) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is nothing to write about to ${professor.name}`);
    const today = new Date();
    const body = letter(professor, alignment, position, today);
    const words = body.split(/\s+/).filter(Boolean).length;
    events.emit('draft-ready', { to: professor.email, words });
    const subject = `Inquiry about ${position}: ${alignment.overlaps[0].interest}`;
    return { to: professor.email, subject, body, drafted_on: today.toISOString().slice(0, 10), words };
  },
);

function letter(professor, { applicant, overlaps }, position, today) {
  // Year of the next autumn with an open application deadline. From April on, the deadline for this autumn is over.
  const year = today.getUTCFullYear() + (today.getUTCMonth() < 3 ? 0 : 1);
  const shown = overlaps.slice(0, OVERLAPS);
  const headline = /^[aeiou]/i.test(applicant.headline) ? `an ${applicant.headline}` : `a ${applicant.headline}`;
  const parts = [
    `Dear Professor ${professor.name.split(' ').at(-1)},`,
    `my name is ${applicant.name}, ${headline.replace(/\.$/, '')}. I am writing to ask about ${position} in your group from autumn ${year}, because of your work on ${shown.map(({ interest }) => interest).join(' and ')}.`,
    ...shown.map((overlap, at) => {
      const said = overlap.professor_evidence ? `I read with interest what you wrote: "${overlap.professor_evidence}"` : `Your interest in ${overlap.interest} caught my attention.`;
      const link = at === 0 ? 'It is close to what I have done:' : 'Here, too, I bring something along:';
      const own = overlap.applicant_evidence.replace(/\.$/, '');
      return `${said} ${link} I ${own.charAt(0).toLowerCase()}${own.slice(1)}.`;
    }),
    ...professor.openings.slice(0, 1).map((opening) => `On your page I read: "${opening.trim()}" I would be glad to be considered for it.`),
    'Would you be open to a short call in the coming weeks? I can send my CV, code and references at any time.',
    `Kind regards,\n${applicant.name}`,
  ];
  return `${parts.join('\n\n')}\n`;
}
