import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { nullable, object, oneOf, optional, string } = schema;

const nameOf = (ref) => `found/${ref}`;

/** The answer of a report. Everything comes from the stored entry, so each try gives the same. */
function reported(ref, entry) {
  const result = { ref, shelf: entry.shelf, since: entry.since };
  return new Output(result, {
    receipt: { ref },
    changes: [{ resourceType: 'found-item', resourceId: ref, operation: 'create', version: entry.since }],
  });
}

function read(ref) {
  const text = kv.text(nameOf(ref));
  return text === undefined ? undefined : JSON.parse(text);
}

tool(
  'Found.Report',
  {
    description: 'Records an item that was found in a train and puts it on a shelf of the office.',
    input: object({
      item: string({ minLength: 1, maxLength: 120 }),
      kind: oneOf('bag', 'clothing', 'device', 'other'),
      train: optional(string({ minLength: 1, maxLength: 20 })),
    }),
    output: object({ ref: string(), shelf: string(), since: string() }),
    effects: ['internal_write'],
    // The entry of a call has its external key as name. A repetition finds the entry and keeps it.
    idempotentByKeySeconds: 172800,
    reconcile: (args, key) => {
      const entry = read(key);
      // Without an entry the item may have been collected already.
      return entry === undefined ? 'unknown' : happened(reported(key, entry));
    },
  },
  (args, context) => {
    const ref = context.externalKey;
    const stored = read(ref);
    if (stored !== undefined) return reported(ref, stored);
    const shelf = { bag: 'A', clothing: 'B', device: 'C', other: 'D' }[args.kind];
    const entry = { item: args.item, train: args.train ?? null, shelf, since: new Date().toISOString() };
    kv.set(nameOf(ref), JSON.stringify(entry));
    return reported(ref, entry);
  },
);

tool(
  'Found.Collect',
  {
    description: 'Hands an item to its owner and takes it off the shelf.',
    input: object({
      ref: string({ pattern: '^[A-Za-z0-9_:/~-]{1,128}$' }),
      owner: string({ minLength: 1, maxLength: 80 }),
    }),
    output: object({ item: string(), train: nullable(string()), owner: string() }),
    effects: ['internal_write'],
  },
  ({ ref, owner }) => {
    const entry = read(ref);
    if (entry === undefined) throw new Failure('INVALID_INPUT', `there is no item ${ref} on the shelves`);
    // The office keeps no data about items that were handed out.
    if (!kv.delete(nameOf(ref))) throw new Failure('INVALID_INPUT', `there is no item ${ref} on the shelves`);
    console.log(`${ref} was collected`);
    return new Output({ item: entry.item, train: entry.train, owner }, { receipt: { ref, owner } });
  },
);
