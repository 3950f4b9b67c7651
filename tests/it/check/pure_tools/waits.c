#include "latchwork.h"

#include <unistd.h>

__attribute__((noinline)) static void pause_a_little(void) { usleep(1000); }

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
