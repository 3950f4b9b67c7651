// Confirms that a yacht charter is still offered under the terms that the customer has signed.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer, array } = schema;

/** Clauses of a text: paragraphs, with single spaces. */
function clauses(text) {
  return text.split(/\n\s*\n/).map((clause) => clause.replace(/\s+/g, ' ').trim()).filter((clause) => clause !== '');
}

function published(yard, edition) {
  try {
    return tools.call('Terms.Read', { yard, edition });
  } catch {
    // The text of the failure is the business of the log of the call.
    throw new Failure('DEPENDENCY_UNAVAILABLE', `the terms of ${yard} could not be read`);
  }
}

step(
  'Charter.Confirm',
  {
    description: 'Confirms a charter if the published terms equal the signed ones.',
    input: object({
      yard: string({ minLength: 1 }),
      edition: string({ minLength: 1 }),
      signed: string({ minLength: 1 }),
      boats: array(string({ minLength: 1 }), { minItems: 1 }),
    }),
    output: object({ yard: string(), edition: string(), clauses: integer(), boats: array(string()) }),
    // The input has the signed text, and any other published text ends the step. So the output follows from the input.
    determinism: 'pure',
  },
  (input) => {
    const wanted = clauses(input.signed);
    if (wanted.length === 0) throw new Failure('INVALID_INPUT', 'the signed terms are blank');
    const answer = published(input.yard, input.edition);
    const found = clauses(answer.text);
    for (const [at, clause] of wanted.entries()) {
      if (found[at] === clause) continue;
      const now = found[at] === undefined ? 'it is missing' : `it now reads "${found[at]}"`;
      throw new Failure('POLICY_DENIED', `clause ${at + 1} of the signed terms was changed: ${now}`);
    }
    if (found.length > wanted.length) throw new Failure('POLICY_DENIED', 'the published terms have further clauses');
    return { yard: input.yard, edition: input.edition, clauses: wanted.length, boats: [...input.boats].sort() };
  },
);
