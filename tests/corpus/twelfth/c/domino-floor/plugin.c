/* Floor.Count: in how many ways a floor of three or two rows can be laid with domino tiles. */
#include "latchwork.h"

enum { MOST = 70 };

/* Numbers that were computed before in this run, by rows and columns. 0: not yet. */
static int64_t done[4][MOST + 1];
static unsigned computed;

/* Depth: at most MOST calls, since each call has fewer columns. */
static int64_t ways(int rows, int columns) {
  if (columns == 0) return 1;
  if (columns < 0) return 0;
  int64_t *known = &done[rows][columns];
  if (*known) return *known;
  computed++;
  if (rows == 2) return *known = ways(2, columns - 1) + ways(2, columns - 2);
  /* Three rows: only even columns can be laid. f(n) = 4 f(n-2) - f(n-4). */
  if (columns == 2) return *known = 3;
  return *known = 4 * ways(3, columns - 2) - ways(3, columns - 4);
}

static int by_size(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

static bool count(latch_json input, latch_answer *answer) {
  latch_json floors = latch_json_member(input, "floors");
  size_t given = latch_json_count(floors);
  int64_t(*sizes)[2] = latch_room(given * sizeof *sizes);
  for (size_t i = 0; i < given; i++) {
    latch_json floor = latch_json_item(floors, i);
    if (!latch_json_integer(latch_json_member(floor, "rows"), &sizes[i][0]) ||
        !latch_json_integer(latch_json_member(floor, "columns"), &sizes[i][1]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "floor %zu is incomplete", i);
    if (sizes[i][0] < 2 || sizes[i][0] > 3 || sizes[i][1] < 1 || sizes[i][1] > (sizes[i][0] == 3 ? 50 : MOST))
      return latch_fail(answer, LATCH_INVALID_INPUT, "floor %zu is too large", i);
  }
  qsort(sizes, given, sizeof *sizes, by_size);
  latch_put(&answer->result, "{\"floors\":[");
  for (size_t i = 0; i < given; i++) {
    int rows = (int)sizes[i][0], columns = (int)sizes[i][1];
    int64_t found = rows == 3 && columns % 2 ? 0 : ways(rows, columns);
    latch_putf(&answer->result, "%s{\"rows\":%d,\"columns\":%d,\"ways\":%lld}", i ? "," : "", rows, columns, (long long)found);
  }
  latch_putf(&answer->result, "],\"largest\":%lld}", given ? (long long)(sizes[given - 1][0] * sizes[given - 1][1]) : 0LL);
  latch_log(LATCH_DEBUG, "%u numbers computed", computed);
  return true;
}

LATCH_PLUGIN({
  .name = "Floor.Count",
  .description = "Counts the ways to lay a floor with domino tiles.",
  .input = "{\"type\":\"object\",\"properties\":{\"floors\":{\"type\":\"array\",\"maxItems\":200,\"items\":{"
           "\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"integer\"},\"columns\":{\"type\":\"integer\"}},"
           "\"required\":[\"rows\",\"columns\"],\"additionalProperties\":false}}},"
           "\"required\":[\"floors\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"floors\",\"largest\"]}",
  .handler = count,
});
