// Asks a laboratory for the result of an assay, and tells the people who wait for it.

import { events, Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

/** Questions to the laboratory in one step. */
const QUESTIONS = 6;

/** Asks until the result is there, a few times at most. Returns undefined if it is still missing. */
function result(sample) {
  for (let question = 1; question <= QUESTIONS; question += 1) {
    const answer = tools.call('Assay.Status', { sample });
    if (answer.state === 'done') return answer;
    console.log(`question ${question}: ${sample} is ${answer.state}`);
  }
  return undefined;
}

/** A notice about a revision of a result, to one person. */
function notice(sample, { revision, grams_per_ton: grade }, to) {
  return {
    operator: 'Mail.Send',
    args: {
      to,
      subject: `Assay of ${sample}`,
      body: `Sample ${sample}, revision ${revision}: ${grade.toFixed(2)} grams of gold per ton.`,
    },
    actionKey: JSON.stringify(['assay-notice', sample, revision, to]),
  };
}

step(
  'Assay.Notify',
  {
    description: 'Sends the result of an assay to each recipient, once for each revision of the result.',
    input: object({
      sample: string({ minLength: 1, maxLength: 60 }),
      recipients: array(string({ minLength: 3, maxLength: 200 }), { minItems: 1, maxItems: 50 }),
    }),
    output: object({ sample: string(), revision: integer(), told: array(string()), missed: array(string()) }),
    effects: ['external_send'],
    determinism: 'external',
  },
  ({ sample, recipients }) => {
    const found = result(sample);
    if (found === undefined) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `the laboratory has no result of ${sample} yet`);
    }
    if (!Number.isInteger(found.revision) || typeof found.grams_per_ton !== 'number') {
      throw new Failure('SCHEMA_VALIDATION_FAILED', `the result of ${sample} has no revision or no grade`);
    }
    const people = [...new Set(recipients)];
    const answers = tools.callAll(people.map((to) => notice(sample, found, to)));
    const told = people.filter((to, index) => answers[index].failure === undefined);
    const missed = people.filter((to, index) => answers[index].failure !== undefined);
    events.emit('assay-notified', { sample, revision: found.revision, told: told.length });
    return { sample, revision: found.revision, told, missed };
  },
);
