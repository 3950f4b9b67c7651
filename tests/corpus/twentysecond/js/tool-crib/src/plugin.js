import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const nameOf = (ref) => `loan/${ref}`;

function read(ref) {
  const text = kv.text(nameOf(ref));
  return text === undefined ? undefined : JSON.parse(text);
}

/** The change of a loan. Both operators change one entry, so both name it in the same way. */
const change = (ref, operation, state) => ({ resourceType: 'tool-loan', resourceId: ref, operation, version: state });

/** Compares the state of the entry with the recorded one. */
function check({ resourceId, version }) {
  const entry = read(resourceId);
  if (entry === undefined) return 'the loan is missing';
  return entry.state === version || `the loan is ${entry.state}`;
}

tool(
  'Crib.Lend',
  {
    description: 'Records that a tool of the workshop was lent to a person.',
    input: object({
      tool: string({ minLength: 1, maxLength: 80 }),
      person: string({ minLength: 1, maxLength: 80 }),
    }),
    output: object({ ref: string(), tool: string(), since: string() }),
    effects: ['internal_write'],
    // The entry has the name of the external key. It stays after the return of the tool, in the state "returned".
    idempotentByKeySeconds: 86400,
    verify: check,
    compensate: (args, result, key) => {
      const entry = read(key);
      if (entry === undefined) throw new Failure('POLICY_DENIED', 'the loan is no longer recorded');
      if (entry.state !== 'out') throw new Failure('POLICY_DENIED', 'the tool was returned since');
      if (!kv.delete(nameOf(key))) throw new Failure('POLICY_DENIED', 'the loan is no longer recorded');
      return new Output({ ref: key }, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    const ref = context.externalKey;
    let entry = read(ref);
    if (entry === undefined) {
      entry = { tool: args.tool, person: args.person, since: new Date().toISOString(), state: 'out' };
      kv.set(nameOf(ref), JSON.stringify(entry));
    }
    // A repetition answers from the entry, with the time of the first try.
    const result = { ref, tool: entry.tool, since: entry.since };
    return new Output(result, { receipt: result, changes: [change(ref, 'create', 'out')] });
  },
);

tool(
  'Crib.Return',
  {
    description: 'Records that a lent tool is back in the workshop.',
    input: object({ ref: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ ref: string(), tool: string(), person: string() }),
    effects: ['internal_write'],
    verify: check,
  },
  ({ ref }) => {
    const entry = read(ref);
    if (entry === undefined) throw new Failure('INVALID_INPUT', `there is no loan ${ref}`);
    // The entry is marked, not deleted: a repetition of the loan still finds it.
    kv.set(nameOf(ref), JSON.stringify({ ...entry, state: 'returned' }));
    const result = { ref, tool: entry.tool, person: entry.person };
    return new Output(result, { receipt: result, changes: [change(ref, 'update', 'returned')] });
  },
);
