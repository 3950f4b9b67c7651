/* Waits until a berth of a harbour is free. It asks at most five times, with a sleep of a minute between two questions.
 * In a step a sleep takes no time and moves the clock of the step. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

#define QUESTIONS 5

static bool wait_for_berth(latch_json input, latch_answer *answer) {
  char *harbour = latch_json_string(latch_json_member(input, "harbour"));
  if (!harbour || !*harbour) return latch_fail(answer, LATCH_INVALID_INPUT, "harbour is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"harbour\":");
  latch_put_string(&args, harbour);
  latch_put(&args, "}");
  time_t start = time(NULL);
  for (int i = 0; i < QUESTIONS; i++) {
    if (i > 0) sleep(60);
    char *found = latch_call(answer, "Harbour.Berths", args.bytes, NULL);
    if (!found) return false;
    int64_t number;
    if (!latch_json_integer(latch_json_member(latch_json_of(found), "free"), &number) || number < 1) continue;
    latch_putf(&answer->result, "{\"berth\":%lld,\"waited_seconds\":%lld}", (long long)number,
               (long long)(time(NULL) - start));
    return true;
  }
  return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no berth of %s was free within %d questions", harbour,
                    QUESTIONS);
}

LATCH_PLUGIN({
  .name = "Berth.Wait",
  .description = "Waits until a berth of a harbour is free.",
  .input = "{\"type\":\"object\",\"properties\":{\"harbour\":{\"type\":\"string\"}},\"required\":[\"harbour\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"berth\":{\"type\":\"integer\"},\"waited_seconds\":"
            "{\"type\":\"integer\"}},\"required\":[\"berth\",\"waited_seconds\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = wait_for_berth,
});
