#include "latchwork.h"

/* Estimates how certain the mean yield of a field trial is: the plots are drawn again with replacement, many times, and
 * the middle nine tenths of the means are the interval. The sequence of rand() is fixed by the seed of the input, so that
 * a reader of the report can repeat the estimate. */

#define MOST_PLOTS 200
#define MOST_ROUNDS 2000

static double yields[MOST_PLOTS];
static double means[MOST_ROUNDS];

/* A number below `bound`. rand() has 31 bits here, and the bias of the remainder is below 1e-6. */
static size_t draw(size_t bound) { return (size_t)rand() % bound; }

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double mean_of_draw(size_t plots) {
  double sum = 0;
  for (size_t i = 0; i < plots; i++) sum += yields[draw(plots)];
  return sum / (double)plots;
}

static bool estimate(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "tonnes_per_hectare");
  size_t plots = latch_json_count(list);
  int64_t seed, rounds = 1000;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed)) return latch_fail(answer, LATCH_INVALID_INPUT, "seed is missing");
  latch_json_integer(latch_json_member(input, "rounds"), &rounds);
  if (plots < 2 || plots > MOST_PLOTS || rounds < 100 || rounds > MOST_ROUNDS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a trial has 2 to %d plots, an estimate 100 to %d rounds", MOST_PLOTS, MOST_ROUNDS);

  double sum = 0;
  bool differ = false;
  for (size_t i = 0; i < plots; i++) {
    if (!latch_json_number(latch_json_item(list, i), &yields[i]))
      return latch_fail(answer, LATCH_INVALID_INPUT, "plot %zu has no yield", i + 1);
    sum += yields[i];
    differ = differ || yields[i] != yields[0];
  }
  if (!differ) return latch_fail(answer, LATCH_INVALID_INPUT, "all plots have the same yield");

  srand((unsigned)seed);
  for (int64_t r = 0; r < rounds; r++) means[r] = mean_of_draw(plots);
  qsort(means, (size_t)rounds, sizeof means[0], by_size);

  size_t cut = (size_t)rounds / 20;
  latch_put(&answer->result, "{\"mean\":");
  latch_put_number(&answer->result, sum / (double)plots);
  latch_put(&answer->result, ",\"low\":");
  latch_put_number(&answer->result, means[cut]);
  latch_put(&answer->result, ",\"high\":");
  latch_put_number(&answer->result, means[(size_t)rounds - 1 - cut]);
  latch_putf(&answer->result, ",\"plots\":%zu,\"rounds\":%lld}", plots, (long long)rounds);
  return true;
}

LATCH_PLUGIN({
  .name = "Trial.Estimate",
  .description = "Estimates the mean yield of a field trial and its interval.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"tonnes_per_hectare\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":200,\"items\":"
           "{\"type\":\"number\",\"minimum\":0,\"maximum\":1000}},"
           "\"seed\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2147483647},"
           "\"rounds\":{\"type\":\"integer\",\"minimum\":100,\"maximum\":2000}},"
           "\"required\":[\"tonnes_per_hectare\",\"seed\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"mean\":{\"type\":\"number\"},\"low\":{\"type\":\"number\"},"
            "\"high\":{\"type\":\"number\"}},\"required\":[\"mean\",\"low\",\"high\",\"plots\",\"rounds\"]}",
  .determinism = LATCH_PURE,
  .handler = estimate,
});
