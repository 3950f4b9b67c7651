import { Failure, happened, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

const DAY = 24 * 60 * 60 * 1000;
const entry = (key) => `certificate/${key}`;

const certificate = (key, { crane, tonnes, months }) => ({
  certificate: key,
  crane,
  tonnes,
  valid_until: new Date(Date.now() + months * 30 * DAY).toISOString(),
});

tool(
  'Crane.Certify',
  {
    description: 'Keeps the certificate of a crane after its load test.',
    input: object({
      crane: string({ minLength: 1, maxLength: 80 }),
      tonnes: integer({ minimum: 1, maximum: 2000 }),
      months: integer({ minimum: 1, maximum: 24 }),
      inspector: string({ minLength: 1, maxLength: 120 }),
    }),
    output: object({ certificate: string(), crane: string(), tonnes: integer(), valid_until: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(entry(key));
      if (text === undefined) return 'did-not-happen';
      return happened(certificate(key, args));
    },
  },
  (args, { externalKey }) => {
    if (args.tonnes > 500 && args.months > 12) {
      throw new Failure('INVALID_INPUT', `a crane of ${args.tonnes} tonnes is certified for twelve months at most`);
    }
    const issued = certificate(externalKey, args);
    kv.set(entry(externalKey), JSON.stringify({ ...issued, inspector: args.inspector }));
    return issued;
  },
);
