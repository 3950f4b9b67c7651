/* Asks the terminals of a port for the next free crane. A terminal that is busy gets a short pause before the next one
 * is asked, because all terminals share one line. */
#include "latchwork.h"

#include <time.h>

#define PAUSE_SECONDS 2.0

static void pause_between_calls(void) {
  struct timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  do {
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((double)(now.tv_sec - start.tv_sec) + (double)(now.tv_nsec - start.tv_nsec) / 1e9 < PAUSE_SECONDS);
}

static bool next_crane(latch_json input, latch_answer *answer) {
  latch_json terminals = latch_json_member(input, "terminals");
  size_t count = latch_json_count(terminals);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "no terminal is given");
  for (size_t i = 0; i < count; i++) {
    char *terminal = latch_json_string(latch_json_item(terminals, i));
    if (!terminal) return latch_fail(answer, LATCH_INVALID_INPUT, "terminal %zu is no text", i);
    latch_text args = { 0 };
    latch_put(&args, "{\"terminal\":");
    latch_put_string(&args, terminal);
    latch_put(&args, "}");
    char *found = latch_call(answer, "Terminal.Cranes", args.bytes, NULL);
    if (!found) {
      if (answer->code > LATCH_DEPENDENCY_UNAVAILABLE) return false;
      latch_log(LATCH_WARN, "terminal %s did not answer: %s", terminal, answer->message);
      if (i + 1 < count) pause_between_calls();
      continue;
    }
    char *crane = latch_json_string(latch_json_member(latch_json_of(found), "free"));
    if (!crane) continue;
    latch_put(&answer->result, "{\"terminal\":");
    latch_put_string(&answer->result, terminal);
    latch_put(&answer->result, ",\"crane\":");
    latch_put_string(&answer->result, crane);
    latch_put(&answer->result, "}");
    return true;
  }
  return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no terminal has a free crane");
}

LATCH_PLUGIN({
  .name = "Crane.Next",
  .description = "Finds the next free crane of several terminals.",
  .input = "{\"type\":\"object\",\"properties\":{\"terminals\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
           "\"maxItems\":10}},\"required\":[\"terminals\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"terminal\",\"crane\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = next_crane,
});
