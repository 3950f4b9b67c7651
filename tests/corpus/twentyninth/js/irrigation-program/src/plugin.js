// Watering programs of a park, one for each zone. The controllers read `zone/NAME` from the map.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, oneOf, string } = schema;

const WEEK = 7 * 24 * 3600;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

const zoneName = (zone) => `zone/${zone}`;
const savedName = (key) => `before/${key}`;

// The text of a program is the same for the same arguments, so it can be compared as it is.
function programText({ start, minutes, days }, key) {
  return JSON.stringify({ start, minutes, days: DAYS.filter((day) => days.includes(day)), loaded_by: key });
}

const change = (zone, operation, version) => ({ resourceType: 'zone', resourceId: zoneName(zone), operation, version });

tool(
  'Watering.Load',
  {
    description: 'Loads the watering program of a zone, in place of the earlier program.',
    input: object({
      zone: string({ pattern: '^[a-z0-9-]{1,40}$' }),
      start: string({ pattern: '^([01]\\d|2[0-3]):[0-5]\\d$' }),
      minutes: integer({ minimum: 1, maximum: 240 }),
      days: array(oneOf(...DAYS), { minItems: 1, maxItems: 7 }),
    }),
    output: object({ zone: string(), weekly_minutes: integer() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WEEK,

    verify: ({ resourceId, version }) => {
      const text = kv.text(resourceId);
      if (text === undefined) return 'the zone has no program';
      return text === version || 'the zone has another program';
    },

    compensate: (args, result, key) => {
      const zone = zoneName(args.zone);
      if (kv.text(zone) !== programText(args, key)) {
        throw new Failure('POLICY_DENIED', `${args.zone} has another program by now`);
      }
      const saved = kv.text(savedName(key));
      if (saved === undefined) throw new Failure('POLICY_DENIED', `the earlier program of ${args.zone} was not kept`);
      const before = JSON.parse(saved).program;
      if (before === null) {
        kv.delete(zone);
        kv.delete(savedName(key));
        return new Output(null, { changes: [change(args.zone, 'delete')] });
      }
      kv.set(zone, before);
      kv.delete(savedName(key));
      return new Output(null, { changes: [change(args.zone, 'update', before)] });
    },
  },
  (args, context) => {
    if (new Set(args.days).size !== args.days.length) throw new Failure('INVALID_INPUT', 'a day is named twice');
    const zone = zoneName(args.zone);
    const text = programText(args, context.externalKey);

    // The earlier program is kept first, so that the new one can always be taken back.
    const before = kv.text(zone) ?? null;
    kv.set(savedName(context.externalKey), JSON.stringify({ program: before }));
    kv.set(zone, text);

    return new Output(
      { zone: args.zone, weekly_minutes: args.minutes * args.days.length },
      { changes: [change(args.zone, before === null ? 'create' : 'update', text)] },
    );
  },
);
