#include "latchwork.h"

/* Grades a harvest: the weight of the middle apple, and of the apples at the tenth and ninetieth percentile. */

enum { MAX_APPLES = 5000 };

static void swap(double *a, double *b) {
  double kept = *a;
  *a = *b;
  *b = kept;
}

/* Returns the weight at one rank of the sorted list, without sorting the whole list. */
static double at_rank(double *weights, size_t count, size_t rank) {
  size_t low = 0, high = count - 1;
  while (low < high) {
    /* Crates often come sorted already. A pivot at a fixed place would make such a crate slow. */
    size_t pivot = low + latch_below((uint32_t)(high - low + 1));
    double weight = weights[pivot];
    swap(&weights[pivot], &weights[high]);
    size_t place = low;
    for (size_t i = low; i < high; i++)
      if (weights[i] < weight) swap(&weights[i], &weights[place++]);
    swap(&weights[place], &weights[high]);
    if (place == rank) break;
    if (place < rank) low = place + 1;
    else high = place - 1;
  }
  return weights[rank];
}

static bool grade(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "grams");
  if (!latch_json_is(list, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "grams is missing");
  static double weights[MAX_APPLES];
  size_t count = 0;
  for (const char *at = latch_json_space(list.at + 1); *at && *at != ']'; count++) {
    if (count == MAX_APPLES) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d apples", MAX_APPLES);
    if (!latch_json_number((latch_json){ at }, &weights[count]) || weights[count] <= 0)
      return latch_fail(answer, LATCH_INVALID_INPUT, "apple %zu has no weight", count);
    at = latch_json_space(latch_json_skip(at));
    if (*at == ',') at = latch_json_space(at + 1);
  }
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the crate is empty");

  latch_putf(&answer->result, "{\"apples\":%zu,\"light\":", count);
  latch_put_number(&answer->result, at_rank(weights, count, (count - 1) / 10));
  latch_put(&answer->result, ",\"median\":");
  latch_put_number(&answer->result, at_rank(weights, count, (count - 1) / 2));
  latch_put(&answer->result, ",\"heavy\":");
  latch_put_number(&answer->result, at_rank(weights, count, (count - 1) * 9 / 10));
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Orchard.Grade",
  .description = "Grades a crate of apples by weight.",
  .input = "{\"type\":\"object\",\"properties\":{\"grams\":{\"type\":\"array\",\"items\":{\"type\":\"number\"}}},"
           "\"required\":[\"grams\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"apples\",\"light\",\"median\",\"heavy\"]}",
  .determinism = LATCH_PURE,
  .handler = grade,
});
