// Merges pairs of equal records into clusters.
import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, object, string } = schema;

class Cluster {
  constructor(member) {
    this.id = crypto.randomUUID();
    this.members = [member];
  }
}

step(
  'Record.Merge',
  {
    description: 'Merges pairs of equal records into clusters.',
    input: object({ pairs: array(array(string(), { minItems: 2, maxItems: 2 })) }),
    output: object({ clusters: array(array(string())) }),
  },
  ({ pairs }) => {
    if (pairs.length > 500) throw new Failure('INVALID_INPUT', 'at most 500 pairs, please');
    const clusters = new Map();
    const of = (member) => clusters.get(member) ?? new Cluster(member);
    for (const [left, right] of pairs) {
      const [into, from] = [of(left), of(right)];
      if (into.id !== from.id) into.members = [...new Set([...into.members, ...from.members])];
      for (const member of into.members) clusters.set(member, into);
    }
    const byId = new Map([...clusters.values()].map((cluster) => [cluster.id, cluster]));
    const ids = [...byId.keys()].sort();
    return { clusters: ids.map((id) => byId.get(id).members.sort()) };
  },
);
