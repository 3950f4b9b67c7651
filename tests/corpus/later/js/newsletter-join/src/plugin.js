import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

const joined = (key, topics) =>
  new Output(
    { subscription: key, topics },
    { changes: [{ resourceType: 'subscription', resourceId: key, operation: 'create' }] },
  );

/** Returns the topics in a fixed order, each of them once. */
const tidy = (topics) => [...new Set(topics.map((topic) => topic.trim().toLowerCase()))].sort();

tool(
  'Newsletter.Join',
  {
    description: 'Subscribes an address to topics of a newsletter.',
    input: object({ address: string(), topics: array(string()) }),
    output: object({ subscription: string(), topics: array(string()) }),
    effects: ['internal_write'],
    // Called after a crash: finds out whether the address was subscribed.
    reconcile: ({ topics }, key) => (kv.get(key) === undefined ? 'did-not-happen' : happened(joined(key, tidy(topics)))),
  },
  ({ address, topics }, context) => {
    if (!address.includes('@')) throw new Failure('INVALID_INPUT', `${address} is not an address`);
    if (topics.length === 0) throw new Failure('INVALID_INPUT', 'there are no topics');
    const key = context.externalKey;
    // An earlier try has subscribed the address already. A second mail of confirmation would confuse people.
    if (context.triesBefore > 0) return joined(key, tidy(topics));
    kv.set(key, JSON.stringify({ address, topics: tidy(topics) }));
    return joined(key, tidy(topics));
  },
);
