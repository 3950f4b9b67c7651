#include "latchwork.h"

#define MOST_STAIRS 50
#define LONGEST_STRIDE 9

/* Number of ways by the set of strides and the stairs that are left. 0: not counted yet. */
static int64_t counted[1 << LONGEST_STRIDE][MOST_STAIRS + 1];

static int64_t ways(unsigned strides, int stairs) {
  if (stairs == 0) return 1;
  int64_t *known = &counted[strides][stairs];
  if (*known) return *known - 1;
  int64_t sum = 0;
  for (int stride = 1; stride <= LONGEST_STRIDE && stride <= stairs; stride++)
    if (strides >> (stride - 1) & 1) sum += ways(strides, stairs - stride);
  *known = sum + 1;
  return sum;
}

static bool count(latch_json input, latch_answer *answer) {
  int64_t stairs;
  if (!latch_json_integer(latch_json_member(input, "stairs"), &stairs) || stairs < 1 || stairs > MOST_STAIRS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "stairs must be from 1 to %d", MOST_STAIRS);
  latch_json list = latch_json_member(input, "strides");
  unsigned strides = 0;
  size_t given = latch_json_count(list);
  for (size_t i = 0; i < given; i++) {
    int64_t stride;
    if (!latch_json_integer(latch_json_item(list, i), &stride) || stride < 1 || stride > LONGEST_STRIDE)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a stride must be from 1 to %d", LONGEST_STRIDE);
    strides |= 1u << (stride - 1);
  }
  if (!strides) return latch_fail(answer, LATCH_INVALID_INPUT, "strides is empty");

  /* At most 2^49 ways, with all strides and 50 stairs. */
  latch_putf(&answer->result, "{\"ways\":%lld}", (long long)ways(strides, (int)stairs));
  return true;
}

LATCH_PLUGIN({
  .name = "StairPatterns.Count",
  .description = "Counts the ways to climb a staircase with the given strides.",
  .input = "{\"type\":\"object\",\"properties\":{\"stairs\":{\"type\":\"integer\"},"
           "\"strides\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"integer\"}}},"
           "\"required\":[\"stairs\",\"strides\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"ways\":{\"type\":\"integer\"}},\"required\":[\"ways\"]}",
  .handler = count,
});
