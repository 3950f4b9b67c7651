import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const headName = (key) => `libretto/${key}`;
const actName = (key, at) => `act/${key}/${at}`;
const change = (key, operation, version) => ({ resourceType: 'libretto', resourceId: key, operation, version });

function output(key, head) {
  return new Output({ id: key, title: head.title, acts: head.acts }, { receipt: { id: key }, changes: [change(key, 'create', String(head.acts))] });
}

/** Makes a change of the map after an earlier one. The earlier change remains, so an error leaves the call in doubt. */
function afterFirst(makeChange) {
  try {
    return makeChange();
  } catch (error) {
    if (error instanceof Failure) throw new Failure(error.code, error.message, { applied: 'unknown' });
    throw error;
  }
}

tool(
  'Libretto.Store',
  {
    description: 'Stores a libretto act by act. The head is written last and makes the libretto visible.',
    input: object({
      title: string({ minLength: 1, maxLength: 200 }),
      acts: array(string({ minLength: 1, maxLength: 15000 }), { minItems: 1, maxItems: 20 }),
    }),
    output: object({ id: string(), title: string(), acts: integer() }),
    effects: ['internal_write'],
    // Acts without a head are read by no operator, and the next try replaces them.
    reconcile: (args, key) => {
      const head = kv.text(headName(key));
      return head === undefined ? 'did-not-happen' : happened(output(key, JSON.parse(head)));
    },
    compensate: (args, result, key) => {
      if (!kv.delete(headName(key))) throw new Failure('POLICY_DENIED', 'the libretto was removed already');
      for (let at = 0; at < result.acts; at++) {
        const removed = afterFirst(() => kv.delete(actName(key, at)));
        if (!removed) throw new Failure('POLICY_DENIED', `act ${at + 1} is missing`, { applied: 'unknown' });
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    const key = context.externalKey;
    if (args.title.trim() === '') throw new Failure('INVALID_INPUT', 'the title is blank');
    const head = { title: args.title.trim(), acts: args.acts.length };
    kv.set(actName(key, 0), args.acts[0]);
    for (let at = 1; at < args.acts.length; at++) afterFirst(() => kv.set(actName(key, at), args.acts[at]));
    afterFirst(() => kv.set(headName(key), JSON.stringify(head)));
    return output(key, head);
  },
);

tool(
  'Libretto.Read',
  {
    description: 'Reads one act of a stored libretto.',
    input: object({ id: string({ minLength: 1, maxLength: 128 }), act: integer({ minimum: 1, maximum: 20 }) }),
    output: object({ title: string(), text: string() }),
    effects: ['read_only'],
  },
  ({ id, act }) => {
    const head = kv.text(headName(id));
    if (head === undefined) throw new Failure('INVALID_INPUT', `there is no libretto ${id}`);
    const { title, acts } = JSON.parse(head);
    if (act > acts) throw new Failure('INVALID_INPUT', `${title} has ${acts} acts`);
    const text = kv.text(actName(id, act - 1));
    if (text === undefined) throw new Failure('DEPENDENCY_UNAVAILABLE', `act ${act} of ${title} cannot be read`);
    return { title, text };
  },
);
