// Alerts of rare birds: a birder subscribes to a species and is called at each report of it.

import { Failure, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { boolean, object, string } = schema;

const name = () => string({ pattern: '^[a-z][a-z0-9-]{0,59}$' });
const subscription = object({ birder: name(), species: name() });

/** Seconds in which a subscription that was cut off is sent again: two days. */
const WINDOW = 172_800;

const entry = ({ birder, species }) => `alert/${species}/${birder}`;

/** Names with hyphens as words, for people. */
const spoken = (slug) => slug.replaceAll('-', ' ');

tool(
  'Alert.Subscribe',
  {
    description: 'Subscribes a birder to the alerts of a species.',
    input: subscription,
    output: object({ birder: string(), species: string(), says: string() }),
    effects: ['internal_write'],
    idempotentByKeySeconds: WINDOW,
  },
  (args, context) => {
    kv.set(entry(args), 'on');
    console.log(`${context.slot}: ${args.birder} subscribes to ${args.species}`);
    return { ...args, says: `${spoken(args.birder)} hears of each ${spoken(args.species)}` };
  },
);

tool(
  'Alert.Unsubscribe',
  {
    description: 'Ends the alerts of a species for a birder.',
    input: subscription,
    output: object({ birder: string(), species: string() }),
    effects: ['internal_write'],
  },
  (args) => {
    if (!kv.delete(entry(args))) {
      throw new Failure('INVALID_INPUT', `${args.birder} has no alerts of ${args.species}`);
    }
    return args;
  },
);

tool(
  'Alert.Check',
  {
    description: 'Says whether a birder gets the alerts of a species.',
    input: subscription,
    output: object({ birder: string(), species: string(), subscribed: boolean() }),
    effects: ['read_only'],
  },
  (args) => ({ ...args, subscribed: kv.get(entry(args)) !== undefined }),
);
