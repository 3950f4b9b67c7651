#include "latchwork.h"

static bool table(latch_json input, latch_answer *answer) {
  latch_json legs = latch_json_member(input, "legs");
  size_t count = latch_json_count(legs);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the team ran no legs");

  double total = 0, fastest = INFINITY;
  char *best = NULL;
  latch_put(&answer->result, "{\"splits\":{");
  for (size_t i = 0; i < count; i++) {
    latch_json leg = latch_json_item(legs, i);
    char *runner = latch_json_string(latch_json_member(leg, "runner"));
    double seconds;
    if (!runner || !latch_json_number(latch_json_member(leg, "seconds"), &seconds))
      return latch_fail(answer, LATCH_INVALID_INPUT, "leg %zu has no runner or no time", i + 1);
    if (!(seconds > 0 && seconds < 86400))
      return latch_fail(answer, LATCH_INVALID_INPUT, "the time of leg %zu is not possible", i + 1);
    if (i > 0) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, runner);
    latch_put(&answer->result, ":");
    latch_put_number(&answer->result, seconds);
    total += seconds;
    if (seconds < fastest) {
      fastest = seconds;
      best = runner;
    }
  }
  latch_put(&answer->result, "},\"fastest\":");
  latch_put_string(&answer->result, best);
  latch_put(&answer->result, ",\"total\":");
  latch_put_number(&answer->result, total);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "RelaySplits.Table",
  .description = "Makes the table of split times of a relay team.",
  .input = "{\"type\":\"object\",\"properties\":{\"legs\":{\"type\":\"array\",\"maxItems\":40,\"items\":{\"type\":\"object\","
           "\"properties\":{\"runner\":{\"type\":\"string\"},\"seconds\":{\"type\":\"number\"}},"
           "\"required\":[\"runner\",\"seconds\"]}}},\"required\":[\"legs\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"splits\":{\"type\":\"object\"},\"fastest\":{\"type\":\"string\"},"
            "\"total\":{\"type\":\"number\"}},\"required\":[\"splits\",\"fastest\",\"total\"]}",
  .handler = table,
});
