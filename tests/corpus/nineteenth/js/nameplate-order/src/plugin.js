// Keeps the orders of nameplates for doors.

import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { integer, object, oneOf, string } = schema;

const order = object({
  text: string({ minLength: 1, maxLength: 60 }),
  metal: oneOf('brass', 'steel'),
  height_mm: integer({ minimum: 10, maximum: 200 }),
});

/** Returns the text of an order in the map. It is equal for equal arguments. */
const written = ({ text, metal, height_mm: height }) => JSON.stringify([text, metal, height]);

/** Returns the answer of a kept order. */
function placed(key, args) {
  const change = { resourceType: 'nameplate', resourceId: key, operation: 'create', version: written(args) };
  return new Output({ order: key, letters: [...args.text].length }, { changes: [change] });
}

tool(
  'Nameplate.Order',
  {
    description: 'Orders a nameplate.',
    input: order,
    output: object({ order: string(), letters: integer() }),
    effects: ['internal_write'],
    // Finds the order under its key.
    reconcile: (args, key) => (kv.get(key) === undefined ? 'did-not-happen' : happened(placed(key, args))),
    // Compares the order with the recorded one.
    verify: ({ resourceId, version }) => {
      try {
        const kept = kv.text(resourceId);
        if (kept === undefined) return 'the order is missing';
        return kept === version || `the order is ${kept}`;
      } catch (error) {
        return `the order cannot be found: ${error.message}`;
      }
    },
    // Takes the order back if it is still as it was placed.
    compensate: (args, result, key) => {
      if (kv.text(key) !== written(args)) throw new Failure('POLICY_DENIED', 'the order was changed or removed');
      kv.delete(key);
      return new Output(null);
    },
  },
  (args, context) => {
    if (args.text.trim() === '') throw new Failure('INVALID_INPUT', 'a nameplate needs a name');
    kv.set(context.externalKey, written(args));
    return placed(context.externalKey, args);
  },
);
