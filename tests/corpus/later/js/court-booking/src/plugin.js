import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const entry = (key) => `court/${key}`;

const booked = (key, { court, code, at }) =>
  new Output(
    { booking: key, court, code, at },
    { receipt: { code }, changes: [{ resourceType: 'court', resourceId: key, operation: 'create', version: code }] },
  );

/** Returns the stored booking of a key, or undefined. */
function stored(key) {
  const text = kv.text(entry(key));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Court.Book',
  {
    description: 'Books a tennis court and chooses a code for its door.',
    input: object({ court: oneOf('north', 'south', 'hall'), player: string() }),
    output: object({ booking: string(), court: string(), code: string(), at: string() }),
    effects: ['internal_write'],
    // The code and the time of the first call are read back, because a new code would not open the door.
    reconcile: (args, key) => {
      const booking = stored(key);
      return booking === undefined ? 'did-not-happen' : happened(booked(key, booking));
    },
    verify: ({ resourceId, version }) => {
      const booking = stored(resourceId);
      if (booking === undefined) return 'the booking is missing';
      return booking.code === version ? true : 'the booking has another code';
    },
    compensate: (args, { booking, code }) => {
      if (stored(booking)?.code !== code) throw new Failure('POLICY_DENIED', 'the booking was changed or removed');
      kv.delete(entry(booking));
      return new Output(null, { changes: [{ resourceType: 'court', resourceId: booking, operation: 'delete' }] });
    },
  },
  ({ court, player }, context) => {
    if (player.trim() === '') throw new Failure('INVALID_INPUT', 'the player has no name');
    const key = context.externalKey;
    const code = String(crypto.getRandomValues(new Uint32Array(1))[0] % 10000).padStart(4, '0');
    const booking = { court, player, code, at: new Date().toISOString() };
    kv.set(entry(key), JSON.stringify(booking));
    return booked(key, booking);
  },
);
