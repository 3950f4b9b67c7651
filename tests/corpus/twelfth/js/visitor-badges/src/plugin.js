// Badges of visitors: each has a code that the door reads.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const name = (key) => `badge#${key}`;

/** The output of a call, from the entry that it made. */
const issued = (key, { code, until }) =>
  new Output(
    { badge: key, code, until },
    { receipt: { badge: key }, changes: [{ resourceType: 'badge', resourceId: key, operation: 'create', version: `${code} ${until}` }] },
  );

tool(
  'Badge.Issue',
  {
    description: 'Issues a badge with a random code to a visitor.',
    input: object({ visitor: string({ minLength: 1, maxLength: 200 }), hours: integer({ minimum: 1, maximum: 72 }) }),
    output: object({ badge: string(), code: string(), until: string() }),
    effects: ['internal_write'],
    // Called after a crash. The code and the time come from the entry, not from the present.
    reconcile: (args, key) => {
      const text = kv.text(name(key));
      return text === undefined ? 'did-not-happen' : happened(issued(key, JSON.parse(text)));
    },
    // Called when a job is resumed. A read that fails throws: the check was not possible.
    verify: ({ resourceId, version }) => {
      const text = kv.text(name(resourceId));
      if (text === undefined) return 'the badge was removed';
      const { code, until } = JSON.parse(text);
      return `${code} ${until}` === version || 'the badge has another code or another end';
    },
    // Called when the job is cancelled or undone.
    compensate: (args, result, key) => {
      if (kv.text(name(key)) !== JSON.stringify({ visitor: args.visitor.trim(), code: result.code, until: result.until })) {
        throw new Failure('POLICY_DENIED', `the badge of ${args.visitor} was changed or removed`);
      }
      if (!kv.delete(name(key))) throw new Failure('POLICY_DENIED', `the badge of ${args.visitor} was removed`);
      return new Output(null, { changes: [{ resourceType: 'badge', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ visitor, hours }, { externalKey, triesBefore }) => {
    if (visitor.trim() === '') throw new Failure('INVALID_INPUT', 'the visitor has no name');
    if (triesBefore > 0) console.log(`try ${triesBefore + 1} of ${externalKey}`);
    // Not keyed: the host executes the call again only if the first try has no effect.
    const until = new Date(Date.now() + hours * 3_600_000).toISOString();
    const badge = { visitor: visitor.trim(), code: crypto.randomUUID(), until };
    kv.set(name(externalKey), JSON.stringify(badge));
    return issued(externalKey, badge);
  },
);
