#include "latchwork.h"

/* Measures a lagoon on a survey grid: every water cell that is connected to the cell of the buoy. */

enum { MAX_SIDE = 100 };

typedef struct {
  char cell[MAX_SIDE][MAX_SIDE + 1];
  int rows, columns;
  int area, shore;
} survey;

static bool water(const survey *map, int row, int column) {
  return row >= 0 && row < map->rows && column >= 0 && column < map->columns && map->cell[row][column] != '#';
}

static void spread(survey *map, int row, int column) {
  if (!water(map, row, column)) {
    map->shore++;
    return;
  }
  if (map->cell[row][column] == '*') return;
  map->cell[row][column] = '*';
  map->area++;
  spread(map, row - 1, column);
  spread(map, row, column + 1);
  spread(map, row + 1, column);
  spread(map, row, column - 1);
}

static bool measure(latch_json input, latch_answer *answer) {
  static survey map;
  latch_json rows = latch_json_member(input, "rows");
  size_t count = latch_json_count(rows);
  if (count == 0 || count > MAX_SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "a grid has 1 to %d rows", MAX_SIDE);
  map.rows = (int)count;
  for (int r = 0; r < map.rows; r++) {
    char *row = latch_json_string(latch_json_item(rows, (size_t)r));
    size_t width = row ? strlen(row) : 0;
    if (width == 0 || width > MAX_SIDE || (r > 0 && (int)width != map.columns) || strspn(row, "#.") != width)
      return latch_fail(answer, LATCH_INVALID_INPUT, "row %d does not fit the grid", r);
    map.columns = (int)width;
    memcpy(map.cell[r], row, width + 1);
  }
  int64_t row, column;
  latch_json buoy = latch_json_member(input, "buoy");
  if (!latch_json_integer(latch_json_item(buoy, 0), &row) || !latch_json_integer(latch_json_item(buoy, 1), &column) ||
      row < 0 || row >= map.rows || column < 0 || column >= map.columns)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the buoy is outside of the grid");
  if (!water(&map, (int)row, (int)column)) return latch_fail(answer, LATCH_INVALID_INPUT, "the buoy lies on land");

  spread(&map, (int)row, (int)column);
  latch_putf(&answer->result, "{\"cells\":%d,\"shore\":%d,\"share\":", map.area, map.shore);
  latch_put_number(&answer->result, (double)map.area / (map.rows * map.columns));
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Lagoon.Measure",
  .description = "Measures the area and the shore of a lagoon on a grid.",
  .input = "{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"buoy\":"
           "{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"minItems\":2,\"maxItems\":2}},"
           "\"required\":[\"rows\",\"buoy\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"cells\",\"shore\",\"share\"]}",
  .determinism = LATCH_PURE,
  .handler = measure,
});
