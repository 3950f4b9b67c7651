/* Snow.Drift: simulates how snow drifts over a fence, from a seed that the caller chooses. */
#include "latchwork.h"

enum { FIELD = 60, MOST = 20000 };

static bool drift(latch_json input, latch_answer *answer) {
  int64_t seed, flakes, fence;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) ||
      !latch_json_integer(latch_json_member(input, "flakes"), &flakes) ||
      !latch_json_integer(latch_json_member(input, "fence"), &fence))
    return latch_fail(answer, LATCH_INVALID_INPUT, "seed, flakes and fence are needed");
  if (flakes < 0 || flakes > MOST || fence < 0 || fence >= FIELD)
    return latch_fail(answer, LATCH_INVALID_INPUT, "at most %d flakes, and a fence within the field", MOST);

  /* The same seed gives the same winter, so that a result can be discussed. */
  srand((unsigned)(seed % 1000003 + 1000003));
  int height[FIELD] = { 0 };
  int lost = 0;
  for (int64_t i = 0; i < flakes; i++) {
    int at = rand() % FIELD;
    /* A flake slides with the wind until it meets the fence or a place that is no lower than the next one. */
    while (at + 1 < FIELD && at != fence && height[at] > height[at + 1]) at++;
    if (at + 1 == FIELD && rand() % 4) lost++;
    else height[at]++;
  }

  int highest = 0;
  latch_put(&answer->result, "{\"heights\":[");
  for (int i = 0; i < FIELD; i++) {
    latch_putf(&answer->result, "%s%d", i ? "," : "", height[i]);
    if (height[i] > height[highest]) highest = i;
  }
  latch_putf(&answer->result, "],\"highest\":%d,\"lost\":%d}", highest, lost);
  return true;
}

LATCH_PLUGIN({
  .name = "Snow.Drift",
  .description = "Simulates how snow drifts over a fence.",
  .input = "{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\"},\"flakes\":{\"type\":\"integer\"},"
           "\"fence\":{\"type\":\"integer\"}},\"required\":[\"seed\",\"flakes\",\"fence\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"heights\",\"highest\",\"lost\"]}",
  .handler = drift,
});
