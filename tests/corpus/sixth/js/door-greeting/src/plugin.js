// Sets the greeting on the display of a door. The greeting is taken down when the job is undone.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const entryOf = ({ door }) => `door/${door}`;
const read = (entry) => JSON.parse(kv.text(entry) ?? '{}');

function shown(args) {
  const change = { resourceType: 'greeting', resourceId: entryOf(args), operation: 'update', version: args.greeting };
  return new Output({ door: args.door }, { changes: [change] });
}

tool(
  'Door.Greet',
  {
    description: 'Sets the greeting of a door.',
    input: object({
      door: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      greeting: string({ minLength: 1, maxLength: 200 }),
    }),
    output: object({ door: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const found = read(entryOf(args));
      if (found.key === key) return happened(shown(args));
      return found.key === undefined ? 'did-not-happen' : 'unknown';
    },
    verify: ({ resourceId, version }) => read(resourceId).greeting === version || 'the door has another greeting',
    compensate: (args, result, key) => {
      if (read(entryOf(args)).key !== key) throw new Failure('POLICY_DENIED', 'the greeting was changed or removed');
      kv.delete(entryOf(args));
      const change = { resourceType: 'greeting', resourceId: entryOf(args), operation: 'delete' };
      return new Output(null, { changes: [change] });
    },
  },
  (args, { externalKey }) => {
    kv.set(entryOf(args), JSON.stringify({ greeting: args.greeting, key: externalKey }));
    return shown(args);
  },
);
