// Volunteers who repair hiking trails. A volunteer signs up for a day, and may withdraw later.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

/** Seconds in which a call that was cut off is sent again: one day. */
const WINDOW = 86_400;

const place = (signup) => `signup/${signup}`;

function read(signup) {
  const text = kv.text(place(signup));
  return text === undefined ? undefined : JSON.parse(text);
}

const change = (signup, operation, version) => ({
  resourceType: 'signup',
  resourceId: signup,
  operation,
  version,
});

/** Checks that a sign-up is in the state that was recorded. */
function verify({ resourceId, version }) {
  const found = read(resourceId);
  if (found === undefined) return `there is no sign-up ${resourceId}`;
  return found.state === version || `the sign-up is ${found.state}`;
}

tool(
  'Trail.SignUp',
  {
    description: 'Signs a volunteer up for a day of work on a trail.',
    input: object({
      volunteer: string({ minLength: 1, maxLength: 80 }),
      trail: string({ minLength: 1, maxLength: 80 }),
      day: string({ pattern: '^20[0-9]{2}-[01][0-9]-[0-3][0-9]$' }),
    }),
    output: object({ signup: string(), says: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WINDOW,
    verify,
  },
  ({ volunteer, trail, day }, context) => {
    const signup = context.externalKey;
    if (read(signup) === undefined) {
      const made = { volunteer, trail, day, state: 'open', at: new Date().toISOString() };
      kv.set(place(signup), JSON.stringify(made));
    }
    return new Output(
      { signup, says: `${volunteer} works on ${trail} on ${day}` },
      { receipt: { signup }, changes: [change(signup, 'create', 'open')] },
    );
  },
);

tool(
  'Trail.Withdraw',
  {
    description: 'Withdraws a sign-up. The sign-up stays in the list of the warden, marked as withdrawn.',
    input: object({ signup: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ signup: string(), volunteer: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WINDOW,
    verify,
  },
  ({ signup }) => {
    const found = read(signup);
    if (found === undefined) throw new Failure('INVALID_INPUT', `there is no sign-up ${signup}`);
    if (found.state !== 'withdrawn') kv.set(place(signup), JSON.stringify({ ...found, state: 'withdrawn' }));
    return new Output(
      { signup, volunteer: found.volunteer },
      { changes: [change(signup, 'update', 'withdrawn')] },
    );
  },
);
