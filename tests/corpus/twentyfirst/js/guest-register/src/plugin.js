import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, optional, string } = schema;

const TWO_DAYS = 2 * 86_400;

const entryOf = (key) => `guest:${key}`;

function read(key) {
  const text = kv.text(entryOf(key));
  return text === undefined ? undefined : JSON.parse(text);
}

const welcomed = (key, { name, arrived, badge }) =>
  new Output(
    { guest: key, name, arrived, badge },
    {
      receipt: { guest: key },
      changes: [{ resourceType: 'guest', resourceId: key, operation: 'create', version: arrived }],
    },
  );

tool(
  'Guest.Arrive',
  {
    description: 'Registers a guest of the house, with the time of arrival and the number of a badge.',
    input: object({
      name: string({ minLength: 1, maxLength: 80 }),
      host: string({ minLength: 1, maxLength: 80 }),
      plate: optional(string({ pattern: '^[A-Z0-9 -]{1,12}$' })),
    }),
    output: object({ guest: string(), name: string(), arrived: string(), badge: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: TWO_DAYS,
    verify: ({ resourceId, version }) => {
      const entry = read(resourceId);
      if (entry === undefined) return 'the guest is not registered';
      return entry.arrived === version || `the guest arrived at ${entry.arrived}`;
    },
    compensate: (args, result, key) => {
      const entry = read(key);
      if (entry === undefined || entry.arrived !== result.arrived) {
        throw new Failure('POLICY_DENIED', 'the registration was changed or removed');
      }
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the registration was removed');
      return new Output(null, { changes: [{ resourceType: 'guest', resourceId: key, operation: 'delete' }] });
    },
  },
  ({ name, host, plate = '' }, { externalKey }) => {
    // A repetition returns the time and the badge of the first try.
    const before = read(externalKey);
    if (before !== undefined) return welcomed(externalKey, before);
    if (name.trim() === '') throw new Failure('INVALID_INPUT', 'the guest has no name');
    if (host.trim() === '') throw new Failure('INVALID_INPUT', 'the host has no name');
    const entry = {
      name: name.trim(),
      host: host.trim(),
      plate,
      arrived: new Date().toISOString(),
      badge: 100_000 + Math.floor(Math.random() * 900_000),
    };
    kv.set(entryOf(externalKey), JSON.stringify(entry));
    return welcomed(externalKey, entry);
  },
);

tool(
  'Guest.Show',
  {
    description: 'Shows a registered guest.',
    input: object({ guest: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({
      found: boolean(),
      name: optional(string()),
      host: optional(string()),
      arrived: optional(string()),
    }),
    effects: ['read_only'],
  },
  ({ guest }) => {
    const entry = read(guest);
    if (entry === undefined) return { found: false };
    return { found: true, name: entry.name, host: entry.host, arrived: entry.arrived };
  },
);
