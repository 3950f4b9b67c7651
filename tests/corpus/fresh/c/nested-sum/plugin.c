#include "latchwork.h"

enum { DEEPEST = 32, MOST = 5000 };

struct sums {
  int64_t total;
  size_t numbers;
  int depth;
};

/* Adds the numbers of nested lists. The depth is bounded, so the stack always suffices. */
static bool add(latch_json value, int depth, struct sums *sums, latch_answer *answer) {
  int64_t number;
  if (latch_json_integer(value, &number)) {
    if (llabs(number) > 1000000 || ++sums->numbers > MOST)
      return latch_fail(answer, LATCH_INVALID_INPUT, "a number beyond 1000000, or more than %d numbers", MOST);
    sums->total += number;
    return true;
  }
  if (!latch_json_is(value, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "%s is no whole number and no list", latch_json_text(value));
  if (depth == DEEPEST) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d levels", DEEPEST);
  if (depth + 1 > sums->depth) sums->depth = depth + 1;
  size_t count = latch_json_count(value);
  if (count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "a list of %zu values", count);
  for (size_t i = 0; i < count; i++)
    if (!add(latch_json_item(value, i), depth + 1, sums, answer)) return false;
  return true;
}

static bool sum(latch_json input, latch_answer *answer) {
  struct sums sums = { 0 };
  if (!add(latch_json_member(input, "values"), 0, &sums, answer)) return false;
  latch_putf(&answer->result, "{\"total\":%lld,\"numbers\":%zu,\"depth\":%d}", (long long)sums.total, sums.numbers, sums.depth);
  return true;
}

LATCH_PLUGIN({
  .name = "List.Sum",
  .description = "Adds the numbers of nested lists.",
  .input = "{\"type\":\"object\",\"properties\":{\"values\":{\"type\":\"array\"}},\"required\":[\"values\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\"},\"numbers\":{\"type\":\"integer\"},"
            "\"depth\":{\"type\":\"integer\"}},\"required\":[\"total\",\"numbers\",\"depth\"]}",
  .determinism = LATCH_PURE,
  .handler = sum,
});
