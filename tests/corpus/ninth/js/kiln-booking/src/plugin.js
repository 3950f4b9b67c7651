import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { object, oneOf, string } = schema;

const firing = (args) => JSON.stringify({ potter: args.potter, glaze: args.glaze });

function booked(key, args) {
  return new Output(
    { booking: key },
    { changes: [{ resourceType: 'firing', resourceId: key, operation: 'create', version: args.glaze }] },
  );
}

tool(
  'Kiln.Book',
  {
    description: 'Books a firing in the kiln.',
    input: object({ potter: string({ minLength: 1, maxLength: 100 }), glaze: oneOf('earthenware', 'stoneware', 'raku') }),
    output: object({ booking: string() }),
    effects: ['internal_write'],
    reconcile: (args, key) => (kv.get(key) === undefined ? 'did-not-happen' : happened(booked(key, args))),
    verify: ({ resourceId, version }) => {
      try {
        const { glaze } = JSON.parse(kv.text(resourceId));
        return glaze === version || `the firing is for ${glaze}`;
      } catch {
        return 'the firing is missing or damaged';
      }
    },
    compensate: (args, result, key) => {
      if (kv.text(key) !== firing(args)) {
        throw new Failure('POLICY_DENIED', 'the firing was changed or cancelled');
      }
      if (!kv.delete(key)) throw new Failure('POLICY_DENIED', 'the firing was cancelled by another party');
      return new Output(null, { changes: [{ resourceType: 'firing', resourceId: key, operation: 'delete' }] });
    },
  },
  (args, context) => {
    if (args.potter.trim() === '') throw new Failure('INVALID_INPUT', 'the firing has no potter');
    kv.set(context.externalKey, firing(args));
    return booked(context.externalKey, args);
  },
);
