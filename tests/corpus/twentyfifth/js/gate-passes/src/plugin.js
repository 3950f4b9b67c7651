import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

const place = (key) => `pass/${key}`;

function find(key) {
  const text = kv.text(place(key));
  return text === undefined ? undefined : JSON.parse(text);
}

function change(key, operation, version) {
  return { resourceType: 'gate pass', resourceId: key, operation, version };
}

function issued(key, pass) {
  return new Output(
    { pass: key, code: pass.code, issued: pass.issued },
    { receipt: { pass: key, visitor: pass.visitor }, changes: [change(key, 'create', pass.code)] },
  );
}

tool(
  'Pass.Issue',
  {
    description: 'Issues a pass with a code for the gate.',
    input: object({
      visitor: string({ minLength: 1, maxLength: 120 }),
      host: string({ minLength: 1, maxLength: 120 }),
      // Seconds since 1970.
      until: integer({ minimum: 0, maximum: 10000000000 }),
    }),
    output: object({ pass: string(), code: string(), issued: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 3 * 86400,
    reconcile: (args, key) => {
      const pass = find(key);
      return pass === undefined ? 'did-not-happen' : happened(issued(key, pass));
    },
    verify: ({ resourceId, version }) => {
      const pass = find(resourceId);
      if (pass === undefined) return 'the pass is missing';
      return pass.code === version || 'the pass has another code';
    },
    compensate: (args, result, key) => {
      const pass = find(key);
      if (pass === undefined) throw new Failure('POLICY_DENIED', 'the pass is missing', { applied: 'no' });
      if (pass.code !== result.code) throw new Failure('POLICY_DENIED', 'the pass has another code', { applied: 'no' });
      if (!kv.delete(place(key))) throw new Failure('POLICY_DENIED', 'the pass is missing', { applied: 'no' });
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  (args, context) => {
    const key = context.externalKey;
    const earlier = find(key);
    if (earlier !== undefined) return issued(key, earlier);
    const now = Math.floor(Date.now() / 1000);
    if (args.until <= now) throw new Failure('POLICY_DENIED', 'the visit is over already');
    if (context.triesBefore > 0) console.log(`${context.slot}: issued at a later try`);
    const code = crypto.randomUUID().slice(0, 8).toUpperCase();
    const pass = { visitor: args.visitor, host: args.host, until: args.until, code, issued: now };
    kv.set(place(key), JSON.stringify(pass));
    return issued(key, pass);
  },
);

tool(
  'Pass.Check',
  {
    description: 'Checks the code of a pass at the gate.',
    input: object({ pass: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }), code: string({ maxLength: 20 }) }),
    output: object({ open: boolean(), reason: string() }),
  },
  (args) => {
    const pass = find(args.pass);
    if (pass === undefined) return { open: false, reason: 'there is no such pass' };
    if (pass.code !== args.code) return { open: false, reason: 'wrong code' };
    if (pass.until <= Math.floor(Date.now() / 1000)) return { open: false, reason: 'the visit is over' };
    return { open: true, reason: `to ${pass.host}` };
  },
);
