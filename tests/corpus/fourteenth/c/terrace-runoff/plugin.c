/* Terrace.Trace: finds the longest way that water can take down a hill of terraces. */
#include "latchwork.h"

enum { SIDE = 60, CELLS = SIDE * SIDE };

static int64_t heights[CELLS];
/* The length of the longest way down from each cell, or 0 if it is not computed yet. */
static int lengths[CELLS];
/* The pending cells. Each cell pushes its neighbours at most once. */
static int pending[4 * CELLS + 1];
static int rows, columns;

static bool read_heights(latch_json given, latch_answer *answer) {
  rows = (int)latch_json_count(given);
  columns = (int)latch_json_count(latch_json_item(given, 0));
  if (rows < 1 || rows > SIDE || columns < 1 || columns > SIDE)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a hill has 1 to %d rows and columns", SIDE);
  for (int row = 0; row < rows; row++) {
    latch_json line = latch_json_item(given, (size_t)row);
    if ((int)latch_json_count(line) != columns) return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has another length", row + 1);
    for (int column = 0; column < columns; column++)
      if (!latch_json_integer(latch_json_item(line, (size_t)column), &heights[row * columns + column]))
        return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has a height that is no integer", row + 1);
  }
  return true;
}

/* Writes the lower neighbours of a cell to `into` and returns their number. */
static int lower(int cell, int *into) {
  int count = 0, row = cell / columns, column = cell % columns;
  int near[4] = { row > 0 ? cell - columns : -1, row + 1 < rows ? cell + columns : -1, column > 0 ? cell - 1 : -1,
                  column + 1 < columns ? cell + 1 : -1 };
  for (int i = 0; i < 4; i++)
    if (near[i] >= 0 && heights[near[i]] < heights[cell]) into[count++] = near[i];
  return count;
}

/* Computes the length of a cell with a list of pending cells in place of a recursion. */
static int trace(int start) {
  int depth = 0, next[4];
  pending[depth++] = start;
  while (depth > 0) {
    int cell = pending[depth - 1], count = lower(cell, next), best = 0, open = 0;
    if (lengths[cell] == 0)
      for (int i = 0; i < count; i++) {
        if (lengths[next[i]] == 0) pending[depth++] = next[i], open++;
        else if (lengths[next[i]] > best) best = lengths[next[i]];
      }
    if (open) continue;
    if (lengths[cell] == 0) lengths[cell] = best + 1;
    depth--;
  }
  return lengths[start];
}

static bool trace_all(latch_json input, latch_answer *answer) {
  if (!read_heights(latch_json_member(input, "heights"), answer)) return false;
  memset(lengths, 0, sizeof lengths);
  int best = 0, from = 0;
  for (int cell = 0; cell < rows * columns; cell++)
    if (trace(cell) > best) best = lengths[cell], from = cell;

  latch_putf(&answer->result, "{\"length\":%d,\"way\":[", best);
  for (int cell = from, next[4]; ; ) {
    latch_putf(&answer->result, "[%d,%d]", cell / columns, cell % columns);
    int count = lower(cell, next), follow = -1;
    for (int i = 0; i < count && follow < 0; i++)
      if (lengths[next[i]] == lengths[cell] - 1) follow = next[i];
    if (follow < 0) break;
    latch_put(&answer->result, ",");
    cell = follow;
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Terrace.Trace",
  .description = "Finds the longest way of water down a hill.",
  .input = "{\"type\":\"object\",\"required\":[\"heights\"],\"additionalProperties\":false,\"properties\":{"
           "\"heights\":{\"type\":\"array\",\"maxItems\":60,\"items\":{\"type\":\"array\",\"maxItems\":60,"
           "\"items\":{\"type\":\"integer\",\"minimum\":-1000,\"maximum\":10000}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"length\",\"way\"]}",
  .handler = trace_all,
});
