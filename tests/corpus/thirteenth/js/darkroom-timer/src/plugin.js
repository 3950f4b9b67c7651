// Sessions in the darkroom of a photo club: the red lamp at the door asks for their state.

import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, oneOf, string } = schema;

const session = string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' });
const nameOf = (key) => `session/${key}`;

tool(
  'Darkroom.Open',
  {
    description: 'Opens a session in the darkroom.',
    input: object({ member: string({ minLength: 1, maxLength: 80 }), process: oneOf('film', 'print', 'lith'), minutes: integer({ minimum: 5, maximum: 480 }) }),
    output: object({ session: string(), until: string() }),
    effects: ['internal_write'],
  },
  ({ member, process, minutes }, context) => {
    if (process === 'film' && minutes > 120) throw new Failure('INVALID_INPUT', 'film has the darkroom for two hours at most');
    const until = new Date(Date.now() + minutes * 60000).toISOString();
    const name = nameOf(context.externalKey);
    kv.set(name, JSON.stringify({ member, process, until }));
    return new Output(
      { session: context.externalKey, until },
      { changes: [{ resourceType: 'session', resourceId: name, operation: 'create', version: until }] },
    );
  },
);

tool(
  'Darkroom.Lamp',
  {
    description: 'Says whether the lamp of a session is red.',
    input: object({ session }),
    output: object({ red: boolean(), minutes_left: integer(), process: string() }),
  },
  ({ session }) => {
    const text = kv.text(nameOf(session));
    if (text === undefined) return { red: false, minutes_left: 0, process: '' };
    const { until, process } = JSON.parse(text);
    const left = Math.ceil((new Date(until) - Date.now()) / 60000);
    if (left <= 0) {
      // Over. This session is not asked for again.
      kv.delete(nameOf(session));
      return { red: false, minutes_left: 0, process };
    }
    return { red: true, minutes_left: left, process };
  },
);
