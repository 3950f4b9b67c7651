import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, integer } = schema;
const SEATS = 7;

// A ride is one entry: the list of its riders, [{ rider, key }].
function ridersOf(ride) {
  const text = kv.text(`ride/${ride}`);
  return text === undefined ? [] : JSON.parse(text);
}

function joined({ ride }, key) {
  return new Output(
    { ride, seat: key },
    { changes: [{ resourceType: 'seat', resourceId: `${ride}#${key}`, operation: 'create', externalRef: key }] },
  );
}

tool(
  'Ride.Join',
  {
    description: 'Gives a rider a seat in a shared ride.',
    input: object({ ride: string({ pattern: '^[a-z0-9-]{1,40}$' }), rider: string({ minLength: 1, maxLength: 80 }) }),
    output: object({ ride: string(), seat: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => (ridersOf(args.ride).some((one) => one.key === key) ? happened(joined(args, key)) : 'did-not-happen'),
    verify: ({ resourceId, externalRef }) => {
      const ride = resourceId.split('#')[0];
      return ridersOf(ride).some((one) => one.key === externalRef) || 'the rider has no seat any more';
    },
  },
  (args, context) => {
    const riders = ridersOf(args.ride);
    if (riders.length >= SEATS) throw new Failure('POLICY_DENIED', `ride ${args.ride} is full`);
    if (riders.some((one) => one.rider === args.rider)) {
      throw new Failure('INVALID_INPUT', `${args.rider} has a seat already`);
    }
    riders.push({ rider: args.rider, key: context.externalKey });
    kv.set(`ride/${args.ride}`, JSON.stringify(riders));
    return joined(args, context.externalKey);
  },
);

tool(
  'Ride.Free',
  {
    description: 'Returns the number of free seats of a ride.',
    input: object({ ride: string({ pattern: '^[a-z0-9-]{1,40}$' }) }),
    output: object({ free: integer() }),
  },
  ({ ride }) => ({ free: SEATS - ridersOf(ride).length }),
);
