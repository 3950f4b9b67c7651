import { Failure, schema, step } from '../../../../../../guest-sdk/js/index.js';

const { array, integer, number, object, string } = schema;

step(
  'Glacier.Pools',
  {
    description: 'Finds the pools of melt water on a raster of a glacier.',
    input: object({
      rows: array(string({ pattern: '^[.~]+$', maxLength: 80 }), { minItems: 1, maxItems: 80 }),
      cell_m: integer({ minimum: 1, maximum: 100 }),
    }),
    output: object({ pools: array(object({ row: integer(), column: integer(), cells: integer() })), wet_m2: integer(), wet_share: number() }),
  },
  ({ rows, cell_m: side }) => {
    const width = rows[0].length;
    const uneven = rows.findIndex((row) => row.length !== width);
    if (uneven >= 0) throw new Failure('INVALID_INPUT', `row ${uneven} has ${rows[uneven].length} cells, and the first row ${width}`);

    const seen = rows.map(() => new Array(width).fill(false));
    const isWet = (row, column) => rows[row]?.[column] === '~' && !seen[row][column];
    const fill = (row, column) => {
      if (!isWet(row, column)) return 0;
      seen[row][column] = true;
      return 1 + fill(row, column + 1) + fill(row + 1, column) + fill(row, column - 1) + fill(row - 1, column);
    };

    const pools = [];
    for (let row = 0; row < rows.length; row++) {
      for (let column = 0; column < width; column++) {
        const cells = fill(row, column);
        if (cells > 0) pools.push({ row, column, cells });
      }
    }
    pools.sort((a, b) => b.cells - a.cells || a.row - b.row || a.column - b.column);
    const wet = pools.reduce((sum, { cells }) => sum + cells, 0);
    return { pools, wet_m2: wet * side * side, wet_share: Math.round((wet / (rows.length * width)) * 1000) / 1000 };
  },
);
