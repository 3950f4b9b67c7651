/* Field.Sample: picks the plots of a field in which the plants are counted. The seed is part of the survey plan. */
#include "latchwork.h"

#define MOST_PLOTS 200000
#define MOST_SAMPLES 400

static uint64_t state;

/* The next number of the sequence that the seed begins (SplitMix64). */
static uint64_t next(void) {
  state += 0x9e3779b97f4a7c15ull;
  uint64_t mixed = state;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9ull;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebull;
  return mixed ^ (mixed >> 31);
}

/* A number below the bound. The upper 32 bits of the sequence are scaled to the bound. */
static uint32_t below(uint32_t bound) { return (uint32_t)(((next() >> 32) * bound) >> 32); }

static int smaller(const void *one, const void *other) {
  uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
  return a < b ? -1 : a > b;
}

static bool sample(latch_json input, latch_answer *answer) {
  int64_t seed, plots, samples, row;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) || seed < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the seed is missing");
  if (!latch_json_integer(latch_json_member(input, "plots"), &plots) || plots < 1 || plots > MOST_PLOTS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a field has 1 to %d plots", MOST_PLOTS);
  if (!latch_json_integer(latch_json_member(input, "row"), &row) || row < 1 || row > plots)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a row has 1 to %lld plots", (long long)plots);
  if (!latch_json_integer(latch_json_member(input, "samples"), &samples) || samples < 1 || samples > plots ||
      samples > MOST_SAMPLES)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the number of samples does not fit the field");

  uint32_t *numbers = latch_room((size_t)plots * sizeof *numbers);
  for (int64_t i = 0; i < plots; i++) numbers[i] = (uint32_t)i;
  state = (uint64_t)seed;
  for (int64_t i = 0; i < samples; i++) {
    int64_t other = i + below((uint32_t)(plots - i));
    uint32_t kept = numbers[i];
    numbers[i] = numbers[other];
    numbers[other] = kept;
  }
  /* The list follows the way through the field. */
  qsort(numbers, (size_t)samples, sizeof *numbers, smaller);

  latch_put(&answer->result, "{\"plots\":[");
  for (int64_t i = 0; i < samples; i++)
    latch_putf(&answer->result, "%s[%lld,%lld]", i > 0 ? "," : "", (long long)(numbers[i] / row + 1),
               (long long)(numbers[i] % row + 1));
  latch_putf(&answer->result, "],\"samples\":%lld}", (long long)samples);
  return true;
}

LATCH_PLUGIN({
  .name = "Field.Sample",
  .description = "Picks the plots of a field that are counted, as rows and places.",
  .input = "{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\"},\"plots\":{\"type\":\"integer\"},"
           "\"row\":{\"type\":\"integer\"},\"samples\":{\"type\":\"integer\"}},"
           "\"required\":[\"seed\",\"plots\",\"row\",\"samples\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"plots\",\"samples\"]}",
  .determinism = LATCH_PURE,
  .handler = sample,
});
