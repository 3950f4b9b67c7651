import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const change = (key, operation, version) => ({ resourceType: 'claim', resourceId: key, operation, version });
const claimed = (key, { person, shift, token }) =>
  new Output({ token }, { receipt: { token }, changes: [change(key, 'create', `${person}/${shift}/${token}`)] });

function read(key) {
  const text = kv.text(key);
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Shift.Claim',
  {
    description: 'Records that a person claims a shift. Several people may claim a shift; the manager chooses.',
    input: object({ person: string({ minLength: 1, maxLength: 100 }), shift: string({ minLength: 1, maxLength: 100 }) }),
    output: object({ token: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const claim = read(key);
      return claim === undefined ? 'did-not-happen' : happened(claimed(key, claim));
    },
    verify: ({ resourceId, version }) => {
      const claim = read(resourceId);
      if (claim === undefined) return 'the claim is gone';
      return `${claim.person}/${claim.shift}/${claim.token}` === version || 'the claim was changed';
    },
    compensate: (args, { token }, key) => {
      if (read(key)?.token !== token) throw new Failure('POLICY_DENIED', 'the claim was changed or removed');
      if (!kv.delete(key)) throw new Failure('POLICY_DENIED', 'the claim was removed');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ person, shift }, { externalKey }) => {
    const claim = { person, shift, token: crypto.randomUUID(), at: Date.now() };
    kv.set(externalKey, JSON.stringify(claim));
    return claimed(externalKey, claim);
  },
);
