// Looks up the fare of a connection. The first service has the exact fare; if it is closed, the second one has a fare
// by distance.
import { Failure, schema, step, tools } from '../../../../../../guest-sdk/js/index.js';

const { boolean, integer, object, string } = schema;

step(
  'Fare.Lookup',
  {
    description: 'Looks up the fare of a connection.',
    input: object({ from: string(), to: string() }),
    output: object({ cents: integer(), exact: boolean() }),
    determinism: 'external',
  },
  ({ from, to }) => {
    if (from === to) throw new Failure('INVALID_INPUT', 'the connection has no length');
    try {
      return { cents: tools.call('Fare.Exact', { from, to }).cents, exact: true };
    } catch (failure) {
      // A closed service names the reason and the time of its next opening.
      if (failure.detail.reason !== 'closed') throw failure;
      console.warn(`closed until ${failure.detail.until}`);
      return { cents: tools.call('Fare.ByDistance', { from, to }).cents, exact: false };
    }
  },
);
