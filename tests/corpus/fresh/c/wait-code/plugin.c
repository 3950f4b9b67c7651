#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* The clock and the numbers are those of the step, so every job has its own ticket. */
static bool ticket(latch_json input, latch_answer *answer) {
  int64_t ahead;
  if (!latch_json_integer(latch_json_member(input, "ahead"), &ahead) || ahead < 0 || ahead > 500)
    return latch_fail(answer, LATCH_INVALID_INPUT, "ahead: 0 to 500");
  time_t begun = time(NULL);
  /* Takes no time in a step, and moves its clock by the time of one customer. */
  sleep(90);
  long long each = (long long)(time(NULL) - begun);
  time_t due = begun + (time_t)(each * ahead);
  struct tm when = { 0 };
  gmtime_r(&due, &when);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &when);
  latch_log(LATCH_INFO, "%lld ahead, due at %s", (long long)ahead, text);
  latch_putf(&answer->result, "{\"number\":\"%c%03u\",\"due\":\"%s\"}", (char)('A' + latch_below(26)), (unsigned)latch_below(1000), text);
  return true;
}

LATCH_PLUGIN({
  .name = "Queue.Ticket",
  .description = "Makes a ticket for a queue, with the time at which it is due.",
  .input = "{\"type\":\"object\",\"properties\":{\"ahead\":{\"type\":\"integer\"}},\"required\":[\"ahead\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"number\":{\"type\":\"string\"},\"due\":{\"type\":\"string\"}},"
            "\"required\":[\"number\",\"due\"]}",
  .determinism = LATCH_STABLE,
  .handler = ticket,
});
