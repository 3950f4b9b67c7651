import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;
const ROUNDS = 12;

// A render takes a minute or two.
function pause(ms) {
  const end = Date.now() + ms;
  while (Date.now() < end) {
    // wait
  }
}

step(
  'Render.Watch',
  {
    description: 'Starts the render of a scene and returns the address of its picture.',
    input: object({ scene: string({ minLength: 1, maxLength: 200 }), width: integer({ minimum: 16, maximum: 8192 }) }),
    output: object({ picture: string(), rounds: integer(), watched_by: string() }),
    determinism: 'external',
  },
  (input, context) => {
    const { ticket } = tools.call('Render.Start', { scene: input.scene, width: input.width });
    if (typeof ticket !== 'string') {
      throw new Failure('SCHEMA_VALIDATION_FAILED', 'Render.Start answered without a ticket');
    }
    for (let round = 1; round <= ROUNDS; round += 1) {
      const state = tools.call('Render.State', { ticket });
      if (state.status === 'failed') {
        throw new Failure('TEMPORARY_PROVIDER_ERROR', `the render of ${input.scene} failed`);
      }
      if (state.status === 'done') {
        console.log(`${input.scene}: done after ${round} rounds`);
        return { picture: String(state.picture), rounds: round, watched_by: context.actor };
      }
      pause(10_000);
    }
    throw new Failure('DEPENDENCY_UNAVAILABLE', `the render of ${input.scene} did not end`);
  },
);
