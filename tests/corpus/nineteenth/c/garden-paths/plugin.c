/* Garden.Paths: counts the walks over the stepping stones of a garden, from the gate to the pond.
 * A walk goes to the right or down. Some stones are closed. */
#include "latchwork.h"

enum { SIDE = 20 };

static int rows, columns;
static bool closed[SIDE][SIDE];

/* Walks to the pond that were counted already, by the stone where they begin. */
static int64_t walks[SIDE][SIDE];
static bool counted[SIDE][SIDE];
static int hits;

static int64_t count_from(int row, int column) {
  if (row >= rows || column >= columns || closed[row][column]) return 0;
  if (row == rows - 1 && column == columns - 1) return 1;
  if (counted[row][column]) {
    hits++;
    return walks[row][column];
  }
  int64_t found = count_from(row, column + 1) + count_from(row + 1, column);
  counted[row][column] = true;
  walks[row][column] = found;
  return found;
}

/* Reads a pair of numbers such as [3, 1]: the row and the column of a stone, from 1. */
static bool read_stone(latch_json pair, int *row, int *column) {
  int64_t r, c;
  if (latch_json_count(pair) != 2) return false;
  if (!latch_json_integer(latch_json_item(pair, 0), &r) || r < 1 || r > rows) return false;
  if (!latch_json_integer(latch_json_item(pair, 1), &c) || c < 1 || c > columns) return false;
  *row = (int)r - 1;
  *column = (int)c - 1;
  return true;
}

static bool count_paths(latch_json input, latch_answer *answer) {
  int64_t down, across;
  if (!latch_json_integer(latch_json_member(input, "rows"), &down) || down < 1 || down > SIDE ||
      !latch_json_integer(latch_json_member(input, "columns"), &across) || across < 1 || across > SIDE)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a garden has 1 to %d rows and columns", SIDE);
  rows = (int)down;
  columns = (int)across;

  latch_json stones = latch_json_member(input, "closed");
  size_t count = latch_json_count(stones);
  for (size_t i = 0; i < count; i++) {
    int row, column;
    if (!read_stone(latch_json_item(stones, i), &row, &column))
      return latch_fail(answer, LATCH_INVALID_INPUT, "closed stone %zu is not in the garden", i + 1);
    closed[row][column] = true;
  }

  int64_t found = count_from(0, 0);
  latch_log(LATCH_DEBUG, "%d stones were looked up again", hits);
  latch_putf(&answer->result, "{\"walks\":%lld,\"open\":%s,\"steps\":%d,\"first\":[", (long long)found,
             found ? "true" : "false", rows + columns - 2);
  /* The first walk prefers to go right. */
  for (int row = 0, column = 0; found; ) {
    latch_putf(&answer->result, "%s[%d,%d]", row + column ? "," : "", row + 1, column + 1);
    if (row == rows - 1 && column == columns - 1) break;
    if (count_from(row, column + 1)) column++;
    else row++;
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Garden.Paths",
  .description = "Counts the walks over the stepping stones of a garden.",
  .input = "{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"integer\"},\"columns\":{\"type\":\"integer\"},"
           "\"closed\":{\"type\":\"array\",\"maxItems\":400,\"items\":{\"type\":\"array\"}}},"
           "\"required\":[\"rows\",\"columns\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"walks\",\"open\",\"steps\",\"first\"],"
            "\"properties\":{\"first\":{\"type\":\"array\"}}}",
  .determinism = LATCH_PURE,
  .handler = count_paths,
});
