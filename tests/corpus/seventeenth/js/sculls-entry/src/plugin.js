// Enters a crew for a regatta: registers the crew, gives it a boat, and returns its entry slip.

import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Rowers of each boat class, with the cox where the class has one. */
const ROWERS = { single: 1, double: 2, 'coxed four': 5, eight: 9 };

function check({ crew, boat_class: boatClass, rowers }) {
  const wanted = ROWERS[boatClass];
  if (rowers.length !== wanted) {
    throw new Failure('INVALID_INPUT', `${crew}: a ${boatClass} has ${wanted} people, not ${rowers.length}`);
  }
  const twice = rowers.find((name, index) => rowers.indexOf(name) !== index);
  if (twice !== undefined) throw new Failure('INVALID_INPUT', `${crew}: ${twice} is named twice`);
}

/** The answer of a call, or its failure with the place where it happened. */
function answered({ ok, failure }, what) {
  if (failure !== undefined) {
    const { code, detail } = failure;
    throw new Failure(code, `${what}: ${failure.message}`, { detail });
  }
  return ok;
}

step(
  'Regatta.Enter',
  {
    description: 'Registers a crew for a race, and gives the registered crew a boat of its class.',
    input: object({
      race: string({ minLength: 1, maxLength: 40 }),
      crew: string({ minLength: 1, maxLength: 60 }),
      boat_class: { enum: Object.keys(ROWERS) },
      rowers: array(string({ minLength: 1, maxLength: 80 }), { minItems: 1, maxItems: 9 }),
    }),
    output: object({ crew: string(), bow_number: integer(), boat: string(), slip: string() }),
    effects: ['external_write'],
    determinism: 'external',
  },
  (input) => {
    check(input);
    const { race, crew, boat_class: boatClass, rowers } = input;
    // The boathouse knows a crew by race and name, and lends boats to the registered crews of a race.
    const [registration, loan] = tools.callAll([
      { operator: 'Regatta.Register', args: { race, crew, rowers } },
      { operator: 'Boathouse.Assign', args: { race, crew, boat_class: boatClass } },
    ]);
    const { bow_number: bow } = answered(registration, `registration of ${crew}`);
    const { boat } = answered(loan, `boat of ${crew}`);
    return { crew, bow_number: bow, boat, slip: `${race}, bow ${bow}: ${crew} in ${boat}` };
  },
);
