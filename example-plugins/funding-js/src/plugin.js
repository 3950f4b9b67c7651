// What an applicant and a professor have in common, and a letter about it.

import { events, Failure, schema, step, tools } from '../../../guest-sdk/js/index.js';

const { any, array, nullable, object, optional, string, integer } = schema;

/** An interest counts as shared from here on. */
const SHARED = 0.5;
/** How many overlaps a letter speaks of: a reader has a minute. */
const OVERLAPS = 2;

const source = object({ path: string(), sha256: string() });
const alignment = object({
  applicant: object({ name: string(), headline: string() }),
  score: integer(),
  overlaps: array(object({ interest: string(), professor_evidence: nullable(string()), applicant_evidence: string(), strength: integer() })),
  gaps: array(string()),
});

step(
  'Alignment.Build',
  {
    description: "Says what a CV and a professor's interests have in common, with evidence.",
    input: object({ professor: any(), cv: source }),
    output: alignment,
    effects: ['read_only', 'produce_outcome'],
    outcome: { type: 'Professor.Alignment', status: 'final' },
  },
  ({ professor, cv }) => {
    const file = tools.call('File.Read', { path: cv.path });
    if (file.sha256.toLowerCase() !== cv.sha256.toLowerCase()) {
      throw new Failure('INVALID_INPUT', `${cv.path} was changed: its SHA-256 is ${file.sha256}, not ${cv.sha256}`);
    }
    return align(professor, file.text);
  },
);

export function align(professor, cv) {
  const { applicant, statements } = readCv(cv);
  const overlaps = [];
  const gaps = [];
  let covered = 0;
  for (const interest of professor.interests) {
    const [statement, part] = best(interest, statements);
    covered += part;
    if (part < SHARED) gaps.push(interest);
    else overlaps.push({ interest, professor_evidence: evidence(professor, interest), applicant_evidence: statement, strength: Math.round(part * 100) });
  }
  overlaps.sort((a, b) => b.strength - a.strength);
  return { applicant, score: Math.round((covered / professor.interests.length) * 100), overlaps, gaps };
}

function readCv(text) {
  let name;
  let headline = '';
  const statements = [];
  for (const line of text.split('\n')) {
    const said = line.trim().replace(/^[-*+]\s*/, '').replaceAll('**', '').replaceAll('`', '');
    if (said === '') continue;
    if (said.startsWith('#')) name ??= said.replace(/^#+\s*/, '');
    else if (headline === '' && name !== undefined) headline = said;
    else if (line.startsWith('  ') && statements.length > 0) statements.push(`${statements.pop()} ${said}`);
    else statements.push(said);
  }
  if (name === undefined) throw new Failure('INVALID_INPUT', 'the CV does not begin with a heading that names somebody');
  return { applicant: { name, headline }, statements };
}

/** Stems of the words that mean something. */
function terms(text) {
  return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => word.length > 3).map((word) => word.replace(/(ing|ed|es|s|ling)$/, '').slice(0, 6));
}

/** The text that has most of a phrase, and how much; the first of several. */
function best(phrase, texts) {
  const wanted = new Set(terms(phrase));
  let found = ['', 0];
  for (const text of texts) {
    const words = new Set(terms(text));
    const part = [...wanted].filter((word) => words.has(word)).length / Math.max(wanted.size, 1);
    if (part > found[1]) found = [text, part];
  }
  return found;
}

function evidence(professor, interest) {
  const [title, part] = best(interest, professor.publications.map((publication) => publication.title));
  if (part >= SHARED) return title;
  return best(interest, professor.summary)[0] || null;
}

step(
  'Email.GenerateDraft',
  {
    description: 'Writes a letter from a summary and an alignment.',
    input: object({ professor: any(), alignment, position: optional(string()) }),
    output: object({ to: string(), subject: string(), body: string(), drafted_on: string(), words: integer() }),
    // The day it is written on is in it.
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
  // The next autumn that can still be applied for.
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
      return `${said} ${link} I ${own[0].toLowerCase()}${own.slice(1)}.`;
    }),
    ...professor.openings.slice(0, 1).map((opening) => `On your page I read: "${opening.trim()}" I would be glad to be considered for it.`),
    'Would you be open to a short call in the coming weeks? I can send my CV, code and references at any time.',
    `Kind regards,\n${applicant.name}`,
  ];
  return `${parts.join('\n\n')}\n`;
}
