/* Sample.Label: labels the samples of grain that a mill takes from its silos for the laboratory. */
#include "latchwork.h"

#include <time.h>

/* Returns the label of a sample: its silo, and the time in microseconds. */
static char *label_of(const char *silo) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  latch_text label = { 0 };
  latch_putf(&label, "%s-%lld", silo, (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
  return label.bytes;
}

/* Returns the test that the laboratory makes with a grain. */
static const char *test_of(const char *grain) {
  if (strcmp(grain, "rye") == 0) return "ergot";
  if (strcmp(grain, "wheat") == 0 || strcmp(grain, "spelt") == 0) return "gluten";
  return strcmp(grain, "oats") == 0 ? "fat" : "moisture";
}

/* Writes one sample as a member of the object of labels. */
static bool put_sample(latch_json sample, size_t place, int64_t *sum, latch_text *labels, latch_answer *answer) {
  char *silo = latch_json_string(latch_json_member(sample, "silo"));
  char *grain = latch_json_string(latch_json_member(sample, "grain"));
  int64_t grams;
  if (!silo || !*silo || !grain || !latch_json_integer(latch_json_member(sample, "grams"), &grams))
    return latch_fail(answer, LATCH_INVALID_INPUT, "sample %zu has no silo, grain or weight", place);
  if (grams < 50)
    return latch_fail(answer, LATCH_INVALID_INPUT, "sample %zu has %lld g, a test needs 50", place, (long long)grams);
  *sum += grams;
  if (labels->len) latch_put(labels, ",");
  latch_put_string(labels, label_of(silo));
  latch_put(labels, ":{\"grain\":");
  latch_put_string(labels, grain);
  latch_putf(labels, ",\"test\":\"%s\",\"grams\":%lld}", test_of(grain), (long long)grams);
  return true;
}

static bool label(latch_json input, latch_answer *answer) {
  latch_json samples = latch_json_member(input, "samples");
  latch_text labels = { 0 };
  latch_put(&labels, "");
  int64_t sum = 0;
  size_t count = latch_json_count(samples);
  for (size_t i = 0; i < count; i++)
    if (!put_sample(latch_json_item(samples, i), i + 1, &sum, &labels, answer)) return false;
  latch_log(LATCH_INFO, "%zu samples, %lld g", count, (long long)sum);
  latch_putf(&answer->result, "{\"samples\":%zu,\"grams\":%lld,\"labels\":{%s}}", count, (long long)sum, labels.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Sample.Label",
  .description = "Labels samples of grain for the laboratory.",
  .input = "{\"type\":\"object\",\"required\":[\"samples\"],\"additionalProperties\":false,\"properties\":{"
           "\"samples\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"silo\":{\"type\":\"string\",\"maxLength\":20},\"grain\":{\"type\":\"string\",\"maxLength\":40},"
           "\"grams\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":5000}},"
           "\"required\":[\"silo\",\"grain\",\"grams\"]}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"samples\",\"grams\",\"labels\"]}",
  /* The labels contain the time. */
  .determinism = LATCH_STABLE,
  .handler = label,
});
