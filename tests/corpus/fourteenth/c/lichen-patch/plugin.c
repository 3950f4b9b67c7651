/* Lichen.Measure: measures the patches of lichen on the scan of a stone slab. */
#include "latchwork.h"

enum { SIDE = 300 };

/* The scan: one character for each square millimetre. `#` is lichen. */
static char scan[SIDE][SIDE];
static int height, width;

/* Removes the patch at this place from the scan and returns its area. */
static int lift(int row, int column) {
  if (row < 0 || column < 0 || row >= height || column >= width || scan[row][column] != '#') return 0;
  scan[row][column] = '.';
  return 1 + lift(row - 1, column) + lift(row + 1, column) + lift(row, column - 1) + lift(row, column + 1);
}

static bool read_scan(latch_json rows, latch_answer *answer) {
  height = (int)latch_json_count(rows);
  width = 0;
  if (height < 1 || height > SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "a scan has 1 to %d rows", SIDE);
  for (int row = 0; row < height; row++) {
    char *line = latch_json_string(latch_json_item(rows, (size_t)row));
    if (!line || strlen(line) > SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "row %d is too long", row + 1);
    int length = (int)strlen(line);
    if (row == 0) width = length;
    if (length != width) return latch_fail(answer, LATCH_INVALID_INPUT, "row %d has %d places, not %d", row + 1, length, width);
    memcpy(scan[row], line, (size_t)length);
  }
  return true;
}

static bool measure(latch_json input, latch_answer *answer) {
  if (!read_scan(latch_json_member(input, "rows"), answer)) return false;
  int64_t smallest;
  if (!latch_json_integer(latch_json_member(input, "smallest"), &smallest)) smallest = 1;

  int patches = 0, largest = 0, covered = 0, specks = 0;
  for (int row = 0; row < height; row++)
    for (int column = 0; column < width; column++) {
      int area = lift(row, column);
      if (area == 0) continue;
      covered += area;
      if (area < smallest) {
        specks++;
        continue;
      }
      patches++;
      if (area > largest) largest = area;
    }
  latch_log(LATCH_INFO, "%d patches on %d rows", patches, height);
  latch_putf(&answer->result, "{\"patches\":%d,\"specks\":%d,\"largest_mm2\":%d,\"covered_mm2\":%d,\"slab_mm2\":%d}", patches,
             specks, largest, covered, height * width);
  return true;
}

LATCH_PLUGIN({
  .name = "Lichen.Measure",
  .description = "Measures the patches of lichen on a scan.",
  .input = "{\"type\":\"object\",\"required\":[\"rows\"],\"additionalProperties\":false,\"properties\":{"
           "\"rows\":{\"type\":\"array\",\"maxItems\":300,\"items\":{\"type\":\"string\",\"maxLength\":300}},"
           "\"smallest\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"patches\",\"specks\",\"largest_mm2\",\"covered_mm2\",\"slab_mm2\"]}",
  .handler = measure,
});
