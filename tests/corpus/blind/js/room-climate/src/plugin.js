import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, number, nullable } = schema;

const change = (room, operation, version) => ({ resourceType: 'climate', resourceId: `climate/${room}`, operation, version });

tool(
  'RoomClimate.Set',
  {
    description: 'Sets the target temperature of a room.',
    input: object({ room: string({ minLength: 1, maxLength: 80 }), celsius: number() }),
    output: object({ room: string(), before: nullable(string()) }),
    effects: ['internal_write'],
    compensate: ({ room, celsius }) => {
      if (kv.text(`climate/${room}`) !== celsius.toFixed(1)) {
        throw new Failure('POLICY_DENIED', `the target of ${room} was changed since`);
      }
      kv.delete(`climate/${room}`);
      return new Output(null, { changes: [change(room, 'delete')] });
    },
  },
  ({ room, celsius }) => {
    if (celsius < 5 || celsius > 28) throw new Failure('INVALID_INPUT', 'a target is between 5 and 28 °C');
    const before = kv.text(`climate/${room}`) ?? null;
    kv.set(`climate/${room}`, celsius.toFixed(1));
    return new Output({ room, before }, { changes: [change(room, 'update', celsius.toFixed(1))] });
  },
);
