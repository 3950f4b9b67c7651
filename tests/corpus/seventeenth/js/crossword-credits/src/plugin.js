// Sums up who worked how long on the crosswords of a magazine, for the credits page and for the pay office.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const entry = object({
  puzzle: string({ minLength: 1, maxLength: 40 }),
  person: string({ minLength: 1, maxLength: 80 }),
  role: string({ minLength: 1, maxLength: 40 }),
  minutes: integer({ minimum: 1, maximum: 6000 }),
});

const totals = object({}, { additionalProperties: integer() });

/** Roles are typed by hand: "Test Solver" and "test  solver" are the same role. */
const tidy = (role) => role.trim().toLowerCase().replace(/\s+/g, ' ');

/** The names of a puzzle's contributors, each once, in the order of the sheet. */
function names(entries) {
  return [...new Set(entries.map(({ person }) => person.trim()))];
}

function credit(puzzle, entries) {
  const people = names(entries);
  if (people.length === 1) return `${puzzle}: ${people[0]}`;
  return `${puzzle}: ${people.slice(0, -1).join(', ')} and ${people[people.length - 1]}`;
}

step(
  'Crossword.Credit',
  {
    description: 'Writes the credit lines of an issue, and adds up the minutes of each role.',
    input: object({ issue: string({ pattern: '^[0-9]{4}-[0-9]{2}$' }), entries: array(entry, { maxItems: 600 }) }),
    output: object({ issue: string(), credits: array(string()), minutes_by_role: totals, minutes: integer() }),
  },
  ({ issue, entries }) => {
    if (entries.length === 0) throw new Failure('INVALID_INPUT', `issue ${issue} has no entries`);
    const puzzles = new Map();
    const byRole = {};
    let minutes = 0;
    for (const one of entries) {
      const role = tidy(one.role);
      if (role === '') throw new Failure('INVALID_INPUT', `an entry of ${one.puzzle} has an empty role`);
      if (!puzzles.has(one.puzzle)) puzzles.set(one.puzzle, []);
      puzzles.get(one.puzzle).push(one);
      byRole[role] = (byRole[role] ?? 0) + one.minutes;
      minutes += one.minutes;
    }
    return {
      issue,
      credits: [...puzzles].map(([puzzle, own]) => credit(puzzle, own)),
      minutes_by_role: byRole,
      minutes,
    };
  },
);
