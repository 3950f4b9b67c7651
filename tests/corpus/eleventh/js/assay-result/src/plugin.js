import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object, string } = schema;

const ROUNDS = 12;

// The lab asks for half a minute between two questions.
function pause(seconds) {
  const until = Date.now() + seconds * 1000;
  while (Date.now() < until);
}

step(
  'Assay.Result',
  {
    description: 'Waits for the result of an assay and grades the ore.',
    input: object({ assay: string({ minLength: 1, maxLength: 80 }), cutoff_ppm: number({ minimum: 0, maximum: 1_000_000 }) }),
    output: object({ assay: string(), ppm: number(), ore: string(), questions: integer() }),
    determinism: 'external',
  },
  ({ assay, cutoff_ppm }) => {
    for (let questions = 1; questions <= ROUNDS; questions++) {
      const answer = tools.call('Lab.Assay', { assay });
      if (answer?.state === 'done') {
        if (!Number.isFinite(answer.ppm) || answer.ppm < 0 || answer.ppm > 1_000_000) {
          throw new Failure('SCHEMA_VALIDATION_FAILED', `the lab has no usable result for ${assay}`);
        }
        return { assay, ppm: answer.ppm, ore: answer.ppm >= cutoff_ppm ? 'mill' : 'waste', questions };
      }
      if (answer?.state !== 'pending') throw new Failure('DEPENDENCY_UNAVAILABLE', `the lab does not have the assay ${assay}`);
      console.log(`${assay} is pending, question ${questions}`);
      pause(30);
    }
    throw new Failure('DEPENDENCY_UNAVAILABLE', `${assay} is still pending after ${ROUNDS} questions`);
  },
);
