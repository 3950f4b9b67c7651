#include "latchwork.h"

#include <time.h>

/* Gives the gauge of a lock two seconds to come back. */
static void settle(void) {
  struct timespec from, now;
  clock_gettime(CLOCK_REALTIME, &from);
  do clock_gettime(CLOCK_REALTIME, &now);
  while (now.tv_sec - from.tv_sec < 2);
}

static char *level(const char *lock, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"lock\":");
  latch_put_string(&args, lock);
  latch_put(&args, "}");
  char *found = latch_call(answer, "Lock.Level", args.bytes, NULL);
  if (found || answer->code > LATCH_DEPENDENCY_UNAVAILABLE) return found;
  latch_log(LATCH_WARN, "lock %s: %s; asking once more", lock, answer->message);
  settle();
  return latch_call(answer, "Lock.Level", args.bytes, NULL);
}

static bool survey(latch_json input, latch_answer *answer) {
  latch_json locks = latch_json_member(input, "locks");
  latch_put(&answer->result, "{\"levels\":[");
  for (size_t i = 0, count = latch_json_count(locks); i < count; i++) {
    char *lock = latch_json_string(latch_json_item(locks, i));
    if (!lock) return latch_fail(answer, LATCH_INVALID_INPUT, "lock %zu has no name", i);
    char *found = level(lock, answer);
    if (!found) return false;
    int64_t cm;
    if (!latch_json_integer(latch_json_member(latch_json_of(found), "cm"), &cm))
      return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the level of lock %s is no integer", lock);
    latch_put(&answer->result, i ? ",{\"lock\":" : "{\"lock\":");
    latch_put_string(&answer->result, lock);
    latch_putf(&answer->result, ",\"cm\":%lld}", (long long)cm);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Canal.Survey",
  .description = "Asks for the water level of each lock.",
  .input = "{\"type\":\"object\",\"properties\":{\"locks\":{\"type\":\"array\",\"maxItems\":20,\"items\":{\"type\":\"string\"}}},\"required\":[\"locks\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"levels\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = survey,
});
