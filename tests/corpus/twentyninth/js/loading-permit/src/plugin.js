// Permits for loading bays in a pedestrian zone. The wardens look a permit up by day, bay and plate.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, optional, string } = schema;

const SLOTS = { early: ['06:00', '09:00'], noon: ['11:30', '13:00'], late: ['18:30', '20:30'] };

// Plates come with spaces, dots and dashes, in upper and lower case.
const plain = (plate) => plate.toUpperCase().replace(/[^A-Z0-9]/g, '');
const permitName = ({ day, bay, plate }) => `permit/${day}/${bay}/${plain(plate)}`;

function permitOf(args) {
  const [from, to] = SLOTS[args.slot];
  return { plate: plain(args.plate), from, to, purpose: args.purpose ?? 'delivery' };
}

function issued(name, permit) {
  const text = JSON.stringify(permit);
  return new Output(
    { permit: name, from: permit.from, to: permit.to },
    {
      receipt: { permit: name },
      changes: [{ resourceType: 'permit', resourceId: name, operation: 'update', version: text }],
    },
  );
}

function isDay(day) {
  const at = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day);
}

tool(
  'Permit.Issue',
  {
    description: 'Issues the permit of a vehicle for a loading bay and a day, or renews it with other hours.',
    input: object({
      day: string({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
      bay: string({ pattern: '^[a-z0-9-]{1,30}$' }),
      plate: string({ minLength: 2, maxLength: 16 }),
      slot: oneOf('early', 'noon', 'late'),
      purpose: optional(string({ minLength: 1, maxLength: 200 })),
    }),
    output: object({ permit: string(), from: string(), to: string() }),
    effects: ['internal_write'],

    // A vehicle has one permit for a bay and a day, so the name of the entry is enough to find it.
    reconcile: (args) => {
      const name = permitName(args);
      const text = kv.text(name);
      return text === undefined ? 'did-not-happen' : happened(issued(name, JSON.parse(text)));
    },
  },
  (args) => {
    if (plain(args.plate).length < 2) throw new Failure('INVALID_INPUT', `${args.plate} is no plate`);
    if (!isDay(args.day)) throw new Failure('INVALID_INPUT', `${args.day} is no day of the calendar`);
    const name = permitName(args);
    const permit = permitOf(args);
    kv.set(name, JSON.stringify(permit));
    return issued(name, permit);
  },
);
