// Records the crates that a museum has on the road: what is inside, and the route.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, boolean, object, string } = schema;

const name = string({ minLength: 1, maxLength: 100 });

const crateOf = (key) => `crate/${key}`;
const routeOf = (key) => `route/${key}`;
const change = (key, operation) => ({ resourceType: 'crate', resourceId: key, operation });

function sent(key, { from, to }) {
  return new Output({ code: key, from, to }, { changes: [change(key, 'create')] });
}

tool(
  'Crate.Send',
  {
    description: 'Records a crate and its route.',
    input: object({ from: name, to: name, works: array(name, { minItems: 1, maxItems: 40 }) }),
    output: object({ code: string(), from: string(), to: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const crate = kv.get(crateOf(key));
      const route = kv.text(routeOf(key));
      if (crate === undefined && route === undefined) return 'did-not-happen';
      if (crate === undefined || route === undefined) return 'unknown';
      return happened(sent(key, JSON.parse(route)));
    },
    // A crate is taken off the record as long as it is on the road.
    compensate: (args, result, key) => {
      for (const entry of [crateOf(key), routeOf(key)]) {
        if (!kv.delete(entry)) throw new Failure('POLICY_DENIED', `${entry} is no longer there, the crate has arrived`);
      }
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ from, to, works }, context) => {
    if (from.trim() === to.trim()) throw new Failure('INVALID_INPUT', `the crate is at ${to} already`);
    const key = context.externalKey;
    const route = { from: from.trim(), to: to.trim() };
    kv.set(crateOf(key), JSON.stringify({ works, packed: new Date().toISOString() }));
    try {
      kv.set(routeOf(key), JSON.stringify(route));
    } catch (error) {
      throw new Failure('DEPENDENCY_UNAVAILABLE', `no route was recorded: ${error.message}`, { applied: 'unknown' });
    }
    return sent(key, route);
  },
);

tool(
  'Crate.Arrive',
  {
    description: 'Ends the route of a crate that has arrived.',
    input: object({ code: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ arrived: boolean() }),
    effects: ['internal_write'],
  },
  ({ code }) => {
    const arrived = kv.delete(routeOf(code));
    return new Output({ arrived }, { changes: arrived ? [change(code, 'arrive')] : [] });
  },
);

tool(
  'Crate.List',
  {
    description: 'Returns the works in a crate.',
    input: object({ code: string({ minLength: 1, maxLength: 128 }) }),
    output: object({ works: array(string()), on_the_road: boolean() }),
    effects: ['read_only'],
  },
  ({ code }) => {
    const crate = kv.text(crateOf(code));
    return {
      works: crate === undefined ? [] : JSON.parse(crate).works,
      on_the_road: kv.get(routeOf(code)) !== undefined,
    };
  },
);
