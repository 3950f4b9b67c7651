import { Failure, happened, kv, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, string } = schema;

// Entries are exported as files, so their names are plain.
const entry = (key) => `specimen-${key.replace(/[^A-Za-z0-9]+/g, '-')}`;

const stored = (key, { taxon, drawer, filed_at }) => ({ label: entry(key), taxon, drawer, filed_at });

tool(
  'Specimen.File',
  {
    description: 'Files a specimen in a drawer of the collection and returns its label.',
    input: object({
      taxon: string({ minLength: 1, maxLength: 200 }),
      drawer: integer({ minimum: 1, maximum: 4000 }),
    }),
    output: object({ label: string(), taxon: string(), drawer: integer(), filed_at: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(entry(key));
      if (text === undefined) return 'did-not-happen';
      let specimen;
      try {
        specimen = JSON.parse(text);
      } catch (cause) {
        throw new Failure('SCHEMA_VALIDATION_FAILED', `the entry ${entry(key)} cannot be read`, { cause });
      }
      return happened(stored(key, specimen));
    },
  },
  ({ taxon, drawer }, { externalKey }) => {
    if (taxon.trim() === '') throw new Failure('INVALID_INPUT', 'the taxon is empty');
    const specimen = { taxon: taxon.trim(), drawer, filed_at: new Date().toISOString() };
    kv.set(entry(externalKey), JSON.stringify(specimen));
    return stored(externalKey, specimen);
  },
);
