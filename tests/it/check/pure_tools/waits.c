#include "latchwork.h"

#include <time.h>

__attribute__((noinline)) static void pause_a_little(void) {
  struct timespec millisecond = {0, 1000000};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &millisecond, NULL);
}

static bool answer(latch_json args, latch_answer *answer) {
  bool waits = false;
  if (latch_json_bool(latch_json_member(args, "wait"), &waits) && waits) pause_a_little();
  latch_put_string(&answer->result, "done");
  return true;
}

LATCH_PLUGIN({
  .name = "Pure.Waits",
  .description = "Waits if it is asked to.",
  .input = "{\"type\":\"object\",\"properties\":{\"wait\":{\"type\":\"boolean\"}},\"required\":[\"wait\"]}",
  .output = "{\"type\":\"string\"}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_PURE,
  .handler = answer,
});
