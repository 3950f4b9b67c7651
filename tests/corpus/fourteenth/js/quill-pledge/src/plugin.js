// Records the pledges of donors for the repair of a library, each under the key of its call.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, optional, string } = schema;

const DAY = 86400;
const entry = (id) => `pledge/${id}`;

/** Splits an amount into equal parts. The first parts get the cents that are left. */
function parts(cents, count) {
  const low = Math.floor(cents / count);
  return Array.from({ length: count }, (_, at) => low + (at < cents % count ? 1 : 0));
}

function recorded(id, pledge) {
  return new Output(
    { id, first_part: pledge.parts[0], parts: pledge.parts.length },
    { receipt: { id }, changes: [{ resourceType: 'pledge', resourceId: id, operation: 'create', version: String(pledge.cents) }] },
  );
}

tool(
  'Pledge.Record',
  {
    description: 'Records the pledge of a donor.',
    input: object({
      donor: string({ minLength: 1, maxLength: 120 }),
      shelf: oneOf('maps', 'letters', 'music', 'herbals'),
      cents: integer({ minimum: 100, maximum: 100000000 }),
      parts: optional(integer({ minimum: 1, maximum: 24 })),
    }),
    output: object({ id: string(), first_part: integer(), parts: integer() }),
    effects: ['internal_write'],
    // The entry has the name of the key, so the map has at most one pledge of a call.
    idempotentByKeySeconds: 7 * DAY,
  },
  ({ donor, shelf, cents, parts: count = 1 }, context) => {
    const id = context.externalKey;
    const name = donor.trim();
    if (name === '') throw new Failure('INVALID_INPUT', 'the donor has no name');
    // A pledge is recorded once. A second record of it would be counted twice.
    if (kv.get(entry(id)) !== undefined) throw new Failure('POLICY_DENIED', `the pledge ${id} is recorded already`);
    const pledge = { donor: name, shelf, cents, parts: parts(cents, count) };
    kv.set(entry(id), JSON.stringify(pledge));
    return recorded(id, pledge);
  },
);

tool(
  'Pledge.Read',
  {
    description: 'Reads a pledge.',
    input: object({ id: string({ minLength: 1, maxLength: 160 }) }),
    output: object({ donor: string(), shelf: string(), cents: integer() }),
  },
  ({ id }) => {
    const kept = kv.text(entry(id));
    if (kept === undefined) throw new Failure('MISSING_REQUIRED_CONTEXT', `there is no pledge ${id}`);
    const { donor, shelf, cents } = JSON.parse(kept);
    return { donor, shelf, cents };
  },
);
