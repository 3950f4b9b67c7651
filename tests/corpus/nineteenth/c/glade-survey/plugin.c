/* Glade.Survey: finds the glades on the map of a forest. A map is a list of rows: `.` is open, `#` is wood. */
#include "latchwork.h"

enum { SIDE = 256 };

typedef struct {
  char cells[SIDE][SIDE];
  int rows, columns;
} map;

static map forest;

/* Marks a glade from one of its cells, and returns the number of its cells. */
static int mark(int row, int column) {
  if (row < 0 || column < 0 || row >= forest.rows || column >= forest.columns) return 0;
  if (forest.cells[row][column] != '.') return 0;
  forest.cells[row][column] = 'x';
  return 1 + mark(row - 1, column) + mark(row + 1, column) + mark(row, column - 1) + mark(row, column + 1);
}

static bool read_map(latch_json rows, latch_answer *answer) {
  forest.rows = (int)latch_json_count(rows);
  if (forest.rows < 1 || forest.rows > SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "a map has 1 to 256 rows");
  for (int row = 0; row < forest.rows; row++) {
    char *line = latch_json_string(latch_json_item(rows, (size_t)row));
    size_t width = line ? strlen(line) : 0;
    if (width < 1 || width > SIDE)
      return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has no width from 1 to 256", row + 1);
    if (row > 0 && (int)width != forest.columns)
      return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has another width than the first", row + 1);
    if (strspn(line, ".#") != width)
      return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has a sign that is neither . nor #", row + 1);
    forest.columns = (int)width;
    memcpy(forest.cells[row], line, width);
  }
  return true;
}

static bool survey(latch_json input, latch_answer *answer) {
  int64_t scale = 10;
  latch_json given = latch_json_member(input, "meters");
  if (given.at && (!latch_json_integer(given, &scale) || scale < 1 || scale > 1000))
    return latch_fail(answer, LATCH_INVALID_INPUT, "a cell has a side of 1 to 1000 meters");
  if (!read_map(latch_json_member(input, "rows"), answer)) return false;

  int glades = 0, open = 0, largest = 0, top = -1, left = -1;
  for (int row = 0; row < forest.rows; row++)
    for (int column = 0; column < forest.columns; column++) {
      int cells = mark(row, column);
      if (cells == 0) continue;
      glades++;
      open += cells;
      if (cells > largest) largest = cells, top = row, left = column;
    }
  latch_log(LATCH_INFO, "%d glades on %d by %d cells", glades, forest.rows, forest.columns);

  latch_putf(&answer->result, "{\"glades\":%d,\"open_square_meters\":%lld,\"largest\":", glades,
             (long long)(open * scale * scale));
  if (glades == 0) latch_put(&answer->result, "null}");
  else latch_putf(&answer->result, "{\"row\":%d,\"column\":%d,\"cells\":%d}}", top + 1, left + 1, largest);
  return true;
}

LATCH_PLUGIN({
  .name = "Glade.Survey",
  .description = "Counts the glades on a map of a forest.",
  .input = "{\"type\":\"object\",\"properties\":{\"meters\":{\"type\":\"integer\"},"
           "\"rows\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"rows\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"glades\",\"open_square_meters\",\"largest\"]}",
  .determinism = LATCH_PURE,
  .handler = survey,
});
