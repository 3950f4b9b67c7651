// Labels for parcels. A label has the moment at which it was printed first, and keeps it.
import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const entryOf = (label) => `label/${label}`;

function read(label) {
  const text = kv.text(entryOf(label));
  return text === undefined ? undefined : JSON.parse(text);
}

const change = (label, operation, version) => ({ resourceType: 'label', resourceId: label, operation, version });

const printed = (label, { printed_at, band }) =>
  new Output({ label, printed_at, band }, { receipt: { label, printed_at }, changes: [change(label, 'create', printed_at)] });

const bandOf = (grams) => (grams <= 2000 ? 'small' : grams <= 10000 ? 'medium' : 'large');

tool(
  'Label.Print',
  {
    description: 'Prints the label of a parcel, once for each call.',
    input: object({
      to: string({ minLength: 1, maxLength: 400 }),
      grams: integer({ minimum: 1, maximum: 31500 }),
      service: oneOf('standard', 'express'),
    }),
    output: object({ label: string(), printed_at: string(), band: oneOf('small', 'medium', 'large') }),
    effects: ['internal_write'],
    idempotentByKeySeconds: 7 * 24 * 60 * 60,
    reconcile: (args, key) => {
      const entry = read(key);
      return entry === undefined ? 'did-not-happen' : happened(printed(key, entry));
    },
    verify: ({ resourceId, version }) => {
      const entry = read(resourceId);
      if (entry === undefined) return 'the label is missing';
      return entry.printed_at === version || `the label was printed at ${entry.printed_at}`;
    },
    compensate: (args, result, key) => {
      const entry = read(key);
      if (entry === undefined) throw new Failure('POLICY_DENIED', 'the label is no longer there');
      if (entry.printed_at !== result.printed_at || entry.to !== args.to) throw new Failure('POLICY_DENIED', 'the label was changed');
      if (!kv.delete(entryOf(key))) throw new Failure('POLICY_DENIED', 'the label is no longer there');
      return new Output(null, { changes: [change(key, 'delete')] });
    },
  },
  ({ to, grams, service }, { externalKey }) => {
    if (to.trim() === '') throw new Failure('INVALID_INPUT', 'the address is blank');
    const earlier = read(externalKey);
    if (earlier !== undefined) return printed(externalKey, earlier);
    const entry = { to, service, band: bandOf(grams), printed_at: new Date().toISOString() };
    kv.set(entryOf(externalKey), JSON.stringify(entry));
    return printed(externalKey, entry);
  },
);

tool(
  'Label.Find',
  {
    description: 'Reads a label.',
    input: object({ label: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }) }),
    output: object({ to: string(), service: string(), printed_at: string() }),
  },
  ({ label }) => {
    const entry = read(label);
    if (entry === undefined) throw new Failure('INVALID_INPUT', `there is no label ${label}`);
    return { to: entry.to, service: entry.service, printed_at: entry.printed_at };
  },
);
