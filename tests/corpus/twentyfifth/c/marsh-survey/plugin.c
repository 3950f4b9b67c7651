#include "latchwork.h"

/* Ponds of a marsh, from an aerial survey. Each row is a line of squares: '~' is water, '.' is dry ground. */
enum { SIDE = 90 };

static char square[SIDE][SIDE + 1];
static int rows;

/* Marks a pond as seen and returns its number of squares. */
static int pond(int row, int column, int *shore) {
  if (row < 0 || row >= rows || column < 0 || column >= SIDE || square[row][column] == 0) {
    ++*shore;
    return 0;
  }
  if (square[row][column] == '.') {
    ++*shore;
    return 0;
  }
  if (square[row][column] == 'x') return 0;
  square[row][column] = 'x';
  int size = 1;
  size += pond(row, column + 1, shore);
  size += pond(row + 1, column, shore);
  size += pond(row, column - 1, shore);
  size += pond(row - 1, column, shore);
  return size;
}

static bool survey(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "rows");
  rows = (int)latch_json_count(list);
  memset(square, 0, sizeof square);
  for (int row = 0; row < rows; row++) {
    char *line = latch_json_string(latch_json_item(list, (size_t)row));
    memcpy(square[row], line, strlen(line) + 1);
  }
  int count = 0, largest = 0, total = 0, shore = 0;
  for (int row = 0; row < rows; row++)
    for (int column = 0; square[row][column]; column++) {
      if (square[row][column] != '~') continue;
      int size = pond(row, column, &shore);
      count++;
      total += size;
      if (size > largest) largest = size;
    }
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the survey shows no water");
  latch_putf(&answer->result, "{\"ponds\":%d,\"largest\":%d,\"shore\":%d,\"water\":%d}", count, largest, shore, total);
  return true;
}

LATCH_PLUGIN({
  .name = "Marsh.Survey",
  .description = "Measures the ponds of a surveyed marsh.",
  .input = "{\"type\":\"object\",\"properties\":{\"rows\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":90,"
           "\"items\":{\"type\":\"string\",\"pattern\":\"^[.~]{1,90}$\"}}},\"required\":[\"rows\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ponds\",\"largest\",\"shore\",\"water\"]}",
  .handler = survey,
});
