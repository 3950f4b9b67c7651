/* Blot.Count: counts the ink blots of a scanned test card. A row is a text of `#` (ink) and `.` (paper). */
#include "latchwork.h"

#define SIDE 200

static char ink[SIDE][SIDE + 1];
static size_t height;

/* Soaks up a blot and returns its size. */
static int soak(long x, long y) {
  if (y < 0 || x < 0 || y >= (long)height || x >= SIDE || ink[y][x] != '#') return 0;
  ink[y][x] = '.';
  int size = 1;
  for (long down = -1; down <= 1; down++)
    for (long right = -1; right <= 1; right++)
      if (down || right) size += soak(x + right, y + down);
  return size;
}

static bool count_blots(latch_json input, latch_answer *answer) {
  latch_json rows = latch_json_member(input, "rows");
  height = latch_json_count(rows);
  if (height > SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "a card has at most %d rows", SIDE);
  for (size_t y = 0; y < height; y++) {
    char *row = latch_json_string(latch_json_item(rows, y));
    if (!row || strlen(row) > SIDE) return latch_fail(answer, LATCH_INVALID_INPUT, "row %zu cannot be read", y + 1);
    strcpy(ink[y], row);
  }
  int64_t smallest = 1;
  latch_json_integer(latch_json_member(input, "smallest"), &smallest);

  int blots = 0, specks = 0, largest = 0, covered = 0;
  for (size_t y = 0; y < height; y++)
    for (size_t x = 0; x < SIDE; x++) {
      int size = soak((long)x, (long)y);
      if (!size) continue;
      if (size < smallest) specks++;
      else blots++;
      if (size > largest) largest = size;
      covered += size;
    }
  latch_log(LATCH_DEBUG, "%d of %zu cells have ink", covered, height * SIDE);
  latch_putf(&answer->result, "{\"blots\":%d,\"specks\":%d,\"largest\":%d,\"covered\":%d}", blots, specks, largest, covered);
  return true;
}

LATCH_PLUGIN({
  .name = "Blot.Count",
  .description = "Counts the connected ink blots of a scanned card.",
  .input = "{\"type\":\"object\",\"properties\":{\"smallest\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
           "\"rows\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"string\",\"maxLength\":200,\"pattern\":\"^[#.]*$\"}}},"
           "\"required\":[\"rows\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"blots\",\"specks\",\"largest\",\"covered\"]}",
  .handler = count_blots,
});
