// Reports whether a parking permit is valid now. The permits are in the map, and the time is the present one: the
// answer changes with the outside world, and the tool changes nothing.
import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, object, string } = schema;

function parsed(text, number) {
  try {
    const { holder, until } = JSON.parse(text);
    const end = Date.parse(until);
    if (typeof holder === 'string' && Number.isFinite(end)) return { holder, end };
  } catch {
    // Reported below, as a text that is JSON but no permit.
  }
  throw new Failure('SCHEMA_VALIDATION_FAILED', `the entry of permit ${number} is damaged`);
}

tool(
  'Permit.Lookup',
  {
    description: 'Reports whether a parking permit is valid now.',
    input: object({ number: string({ minLength: 1, maxLength: 20 }) }),
    output: object({ holder: string(), valid: boolean(), checked_at: string() }),
    effects: ['read_only'],
    determinism: 'external',
  },
  ({ number }, { triesBefore }) => {
    if (triesBefore > 0) console.log(`try ${triesBefore + 1}`);
    const text = kv.text(`permit/${number}`);
    if (text === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no permit ${number}`);
    const { holder, end } = parsed(text, number);
    const now = new Date();
    return { holder, valid: now.getTime() <= end, checked_at: now.toISOString() };
  },
);
