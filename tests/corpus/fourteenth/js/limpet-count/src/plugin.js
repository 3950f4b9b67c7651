// Summarizes the counts of limpets in the quadrats of a rocky shore.

import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, oneOf, string } = schema;

const ZONES = ['upper', 'middle', 'lower'];

step(
  'Limpet.Summarize',
  {
    description: 'Summarizes the limpets of a shore by zone.',
    input: object({
      shore: string(),
      quadrats: array(object({ zone: oneOf(...ZONES), limpets: integer({ minimum: 0, maximum: 100000 }) }), { maxItems: 2000 }),
    }),
    output: object({
      shore: string(),
      zones: array(object({ zone: string(), quadrats: integer(), total: integer(), median: integer(), mean: number(), empty: integer() })),
      densest: string(),
    }),
  },
  ({ shore, quadrats }) => {
    if (quadrats.length === 0) throw new Failure('INVALID_INPUT', `${shore} has no quadrats`);
    const zones = [];
    for (const zone of ZONES) {
      const counts = quadrats.filter((one) => one.zone === zone).map(({ limpets }) => limpets);
      if (counts.length > 0) zones.push({ zone, ...summary(counts) });
    }
    const densest = zones.reduce((best, one) => (one.mean > best.mean ? one : best)).zone;
    return { shore, zones, densest };
  },
);

function summary(counts) {
  const total = counts.reduce((sum, count) => sum + count, 0);
  return {
    quadrats: counts.length,
    total,
    median: median(counts),
    mean: Math.round((total / counts.length) * 10) / 10,
    empty: counts.filter((count) => count === 0).length,
  };
}

function median(counts) {
  const sorted = [...counts].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
