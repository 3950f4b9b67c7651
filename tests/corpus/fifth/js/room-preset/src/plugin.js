// Sets the temperature that a room is heated to. The map has one entry for each room: the degrees, and the key of the
// call that set them.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const entry = (room) => `preset/${room}`;
const value = (degrees, key) => `${degrees} ${key}`;
const change = (room, operation, version) => ({ resourceType: 'preset', resourceId: entry(room), operation, version });
const set = ({ room, degrees }, key) =>
  new Output({ room, degrees }, { changes: [change(room, 'update', value(degrees, key))] });

tool(
  'Preset.Set',
  {
    description: 'Sets the temperature of a room.',
    input: object({ room: string({ minLength: 1, maxLength: 40 }), degrees: integer({ minimum: 5, maximum: 28 }) }),
    output: object({ room: string(), degrees: integer() }),
    effects: ['internal_write'],
    // Called after a crash: finds out whether the call happened.
    reconcile: (args, key) => {
      const found = kv.text(entry(args.room));
      if (found === undefined) return 'did-not-happen';
      return found === value(args.degrees, key) ? happened(set(args, key)) : 'unknown';
    },
    // Called when a job is resumed.
    verify: ({ resourceId, version }) => {
      const found = kv.text(resourceId);
      return found === version || `the preset is ${found ?? 'missing'}`;
    },
    // Called when the job is cancelled or undone: without a preset, a room is heated as the house is.
    compensate: ({ room, degrees }, result, key) => {
      if (kv.text(entry(room)) !== value(degrees, key)) {
        throw new Failure('POLICY_DENIED', 'the preset was changed since');
      }
      kv.delete(entry(room));
      return new Output(null, { changes: [change(room, 'delete')] });
    },
  },
  (args, { externalKey }) => {
    kv.set(entry(args.room), value(args.degrees, externalKey));
    return set(args, externalKey);
  },
);
