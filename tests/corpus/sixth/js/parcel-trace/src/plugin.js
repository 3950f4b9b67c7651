// Traces a parcel with its carrier, and says where it is.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { object, string } = schema;

const STATES = { moving: 'on its way', stored: 'at a depot', done: 'delivered' };

function explain(failure, number) {
  if (failure.code === 'INVALID_INPUT') return new Failure('NOT_FOUND', `no carrier has the parcel ${number}`);
  return failure;
}

step(
  'Parcel.Trace',
  {
    description: 'Traces a parcel.',
    input: object({ number: string() }),
    output: object({ state: string(), place: string() }),
    determinism: 'external',
  },
  ({ number }) => {
    if (!/^[A-Z]{2}[0-9]{6}$/.test(number)) throw new Failure('INVALID_INPUT', 'the number of the parcel is not valid');
    let found;
    try {
      found = tools.call('Carrier.Trace', { number });
    } catch (failure) {
      throw explain(failure, number);
    }
    return { state: STATES[found.state] ?? 'unknown', place: String(found.place ?? '') };
  },
);
