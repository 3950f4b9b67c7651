#include "latchwork.h"

#include <unistd.h>

enum { PAUSE = 2, ROUNDS = 30 };

static bool watch(latch_json args, latch_answer *answer) {
  char *gate = latch_json_string(latch_json_member(args, "gate"));
  if (!gate || !*gate || strlen(gate) > 60) return latch_fail(answer, LATCH_INVALID_INPUT, "the gate has no name, or a long one");
  latch_text key = { 0 };
  latch_putf(&key, "gate:%s", gate);
  /* The sensor writes its state every minute. */
  for (int round = 0; round < ROUNDS; round++) {
    char *state;
    if (!latch_kv_get(answer, key.bytes, &state)) return false;
    if (state) {
      latch_putf(&answer->result, "{\"open\":%s}", strcmp(state, "open") == 0 ? "true" : "false");
      return true;
    }
    sleep(PAUSE);
  }
  return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the sensor of %s has been silent for %d seconds", gate, PAUSE * ROUNDS);
}

LATCH_PLUGIN({
  .name = "Gate.Watch",
  .description = "Tells whether a gate is open.",
  .input = "{\"type\":\"object\",\"properties\":{\"gate\":{\"type\":\"string\"}},\"required\":[\"gate\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"open\":{\"type\":\"boolean\"}},\"required\":[\"open\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = watch,
});
