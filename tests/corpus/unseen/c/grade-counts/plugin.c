#include "latchwork.h"

enum { BEST = 100, PASSED = 50 };

static bool count(latch_json input, latch_answer *answer) {
  unsigned *counts = malloc((BEST + 1) * sizeof *counts);
  if (!counts) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no memory");
  latch_json points = latch_json_member(input, "points");
  size_t given = latch_json_count(points);
  for (size_t i = 0; i < given; i++) {
    int64_t one;
    if (!latch_json_integer(latch_json_item(points, i), &one) || one < 0 || one > BEST)
      return latch_fail(answer, LATCH_INVALID_INPUT, "result %zu is not from 0 to 100", i + 1);
    counts[one]++;
  }
  unsigned passed = 0, often = PASSED;
  for (unsigned at = PASSED; at <= BEST; at++) {
    passed += counts[at];
    if (counts[at] > counts[often]) often = at;
  }
  latch_putf(&answer->result, "{\"passed\":%u,\"most_often\":%u,\"results\":%zu}", passed, often, given);
  free(counts);
  return true;
}

LATCH_PLUGIN({
  .name = "Grades.Count",
  .description = "Counts the passed exams, and finds the most frequent result among them.",
  .input = "{\"type\":\"object\",\"properties\":{\"points\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
           "\"required\":[\"points\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"passed\",\"most_often\",\"results\"]}",
  .determinism = LATCH_PURE,
  .handler = count,
});
