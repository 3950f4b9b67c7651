import { Failure, happened, kv, Output, schema, tool } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, object, string } = schema;

const row = object({ plant: string({ minLength: 1, maxLength: 80 }), count: integer({ minimum: 1, maximum: 500 }) });

const entryOf = (key) => `tray/${key}`;

function total(rows) {
  return rows.reduce((sum, row) => sum + row.count, 0);
}

function output(key, rows) {
  return new Output({ tray: key, plants: total(rows) });
}

tool(
  'Nursery.Sow',
  {
    description: 'Keeps the sowing list of one tray.',
    input: object({
      rows: array(row, { minItems: 1, maxItems: 60 }),
    }),
    output: object({ tray: string(), plants: integer() }),
    effects: ['internal_write'],
    reconcile: (args, key) => {
      const text = kv.text(entryOf(key));
      return text === undefined ? 'did-not-happen' : happened(output(key, JSON.parse(text).rows));
    },
    // Takes the list of the tray back.
    compensate: (args, result, key) => {
      kv.delete(entryOf(key));
      return new Output({ tray: key, plants: 0 });
    },
  },
  (args, context) => {
    if (total(args.rows) > 2000) throw new Failure('INVALID_INPUT', 'a tray has room for 2000 plants');
    kv.set(entryOf(context.externalKey), JSON.stringify({ rows: args.rows }));
    return output(context.externalKey, args.rows);
  },
);

tool(
  'Nursery.Clear',
  {
    description: 'Empties a tray whose plants have died or were sold.',
    input: object({ tray: string({ minLength: 1, maxLength: 200 }) }),
    output: object({ tray: string() }),
    effects: ['internal_write'],
  },
  (args) => {
    if (!kv.delete(entryOf(args.tray))) throw new Failure('INVALID_INPUT', `there is no tray ${args.tray}`);
    return { tray: args.tray };
  },
);
