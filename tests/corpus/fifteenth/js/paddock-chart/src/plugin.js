import { Failure, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, optional, string } = schema;

/** Doses for a horse of 500 kilograms, in milliliters. */
const DOSES = { wormer: 23, vitamin: 15, painkiller: 20 };

/** Writes an entry of the chart and reports it as a change. */
function chart(kind, key, entry, result) {
  kv.set(`${kind}/${key}`, entry);
  return new Output(result, {
    receipt: { entry: key },
    changes: [{ resourceType: kind, resourceId: key, operation: 'create', version: entry }],
  });
}

/** Compares an entry of the chart with the version that the call recorded. */
function compare(change) {
  const entry = kv.text(`${change.resourceType}/${change.resourceId}`);
  if (entry === undefined) return 'the entry is missing';
  return entry === change.version || `the entry is ${entry}`;
}

tool(
  'Paddock.Assign',
  {
    description: 'Notes in the chart of the yard that a horse is in a paddock.',
    input: object({
      horse: string({ minLength: 1, maxLength: 100 }),
      paddock: string({ pattern: '^[A-F][1-9]$' }),
      companion: optional(string({ maxLength: 100 })),
    }),
    output: object({ entry: string(), paddock: string() }),
    effects: ['internal_write'],
    verify: compare,
  },
  (args, context) => {
    if (args.companion === args.horse) throw new Failure('INVALID_INPUT', 'a horse is not its own companion');
    const entry = JSON.stringify({ horse: args.horse, paddock: args.paddock, companion: args.companion ?? null });
    return chart('assignment', context.externalKey, entry, { entry: context.externalKey, paddock: args.paddock });
  },
);

tool(
  'Paddock.Treat',
  {
    description: 'Notes a treatment of a horse in the chart of the yard.',
    input: object({
      horse: string({ minLength: 1, maxLength: 100 }),
      remedy: schema.oneOf('wormer', 'vitamin', 'painkiller'),
      kilograms: integer({ minimum: 50, maximum: 1200 }),
    }),
    output: object({ entry: string(), milliliters: integer() }),
    effects: ['internal_write'],
  },
  (args, context) => {
    const milliliters = Math.ceil((DOSES[args.remedy] * args.kilograms) / 500);
    const entry = JSON.stringify({ horse: args.horse, remedy: args.remedy, milliliters });
    return chart('treatment', context.externalKey, entry, { entry: context.externalKey, milliliters });
  },
);
