// Notes sightings of otters along a river. A repetition of a call keeps the entry of the first try.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, number, object, optional, string } = schema;

const entry = (id) => `sighting/${id}`;

function load(id) {
  const kept = kv.text(entry(id));
  return kept === undefined ? undefined : JSON.parse(kept);
}

function noted(id, sighting) {
  return new Output(
    { id, reach: sighting.reach, otters: sighting.otters, noted_at: sighting.noted_at },
    { receipt: { id, mark: sighting.mark }, changes: [{ resourceType: 'sighting', resourceId: id, operation: 'create', version: sighting.mark }] },
  );
}

tool(
  'Otter.Note',
  {
    description: 'Notes a sighting of otters.',
    input: object({
      reach: string({ minLength: 1, maxLength: 80 }),
      otters: integer({ minimum: 1, maximum: 40 }),
      kilometre: number({ minimum: 0, maximum: 1000 }),
      remark: optional(string({ maxLength: 2000 })),
    }),
    output: object({ id: string(), reach: string(), otters: integer(), noted_at: string() }),
    effects: ['internal_write'],
    // Each entry has the external key as its name and is kept for good, unless the call is undone.
    idempotentByKeySeconds: 30 * 86400,
    reconcile: (args, key) => {
      const sighting = load(key);
      return sighting === undefined ? 'did-not-happen' : happened(noted(key, sighting));
    },
    verify: ({ resourceId, version }) => {
      const sighting = load(resourceId);
      if (sighting === undefined) return `the sighting ${resourceId} is missing`;
      return sighting.mark === version || `the sighting ${resourceId} has the mark ${sighting.mark}`;
    },
    compensate: (args, result, key) => {
      const sighting = load(key);
      if (sighting === undefined) throw new Failure('POLICY_DENIED', `the sighting ${key} was removed by another party`);
      if (sighting.noted_at !== result.noted_at) throw new Failure('POLICY_DENIED', `the sighting ${key} was changed`);
      kv.delete(entry(key));
      return new Output(null, { changes: [{ resourceType: 'sighting', resourceId: key, operation: 'delete', version: sighting.mark }] });
    },
  },
  ({ reach, otters, kilometre, remark = '' }, context) => {
    if (reach.trim() === '') throw new Failure('INVALID_INPUT', 'the reach has no name');
    const id = context.externalKey;
    // The time and the mark differ in each try, so the entry of an earlier try is kept.
    const earlier = load(id);
    if (earlier !== undefined) return noted(id, earlier);
    const sighting = { reach: reach.trim(), otters, kilometre, remark, mark: crypto.randomUUID(), noted_at: new Date().toISOString() };
    kv.set(entry(id), JSON.stringify(sighting));
    return noted(id, sighting);
  },
);
