import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, string, oneOf, nullable } = schema;

// Signals at the mast of a station. A station shows one signal at a time; a new one takes the place of the old one.
const SIGNALS = {
  'north-cone': 'gale expected from the north',
  'south-cone': 'gale expected from the south',
  'black-ball': 'wind shifting, keep watch',
  drum: 'storm expected soon',
  none: 'no warning',
};

const mast = (station) => `mast/${station.toUpperCase()}`;

function hanging(station) {
  const text = kv.text(mast(station));
  return text === undefined ? undefined : JSON.parse(text);
}

const hoisted = ({ station, signal }) =>
  new Output(
    { station: station.toUpperCase(), signal, meaning: SIGNALS[signal] },
    { receipt: { mast: mast(station), signal } },
  );

tool(
  'Cone.Hoist',
  {
    description: 'Hoists a storm signal at a station, in place of the present one.',
    input: object({
      station: string({ pattern: '^[A-Za-z]{3,12}$' }),
      signal: oneOf(...Object.keys(SIGNALS)),
      watch: string({ minLength: 1, maxLength: 200 }),
    }),
    output: object({ station: string(), signal: string(), meaning: string() }),
    effects: ['internal_write'],
    // The mast names the call that hoisted its signal, so the map itself tells whose signal it is.
    reconcile: (args, key) => {
      const now = hanging(args.station);
      if (now?.call === key) return happened(hoisted(args));
      return 'did-not-happen';
    },
  },
  (args, context) => {
    const watch = args.watch.trim();
    if (watch === '') throw new Failure('INVALID_INPUT', 'the watch that orders the signal has no name');
    kv.set(mast(args.station), JSON.stringify({ signal: args.signal, watch, call: context.externalKey }));
    return hoisted(args);
  },
);

tool(
  'Cone.Read',
  {
    description: 'Reads the signal that hangs at a station.',
    input: object({ station: string({ pattern: '^[A-Za-z]{3,12}$' }) }),
    output: object({ signal: string(), meaning: string(), watch: nullable(string()) }),
  },
  ({ station }) => {
    const now = hanging(station);
    if (now === undefined) return { signal: 'none', meaning: SIGNALS.none, watch: null };
    return { signal: now.signal, meaning: SIGNALS[now.signal], watch: now.watch };
  },
);
