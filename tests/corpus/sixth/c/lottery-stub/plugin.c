/* Draws a number for a stub of a lottery, and enters it in the list. A refused draw is repeated with the next number.
 * There are at most three draws. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static bool draw(latch_json input, latch_answer *answer) {
  char *buyer = latch_json_string(latch_json_member(input, "buyer"));
  if (!buyer || !*buyer) return latch_fail(answer, LATCH_INVALID_INPUT, "the stub has no buyer");
  char *id = latch_uuid();
  for (int tried = 0; tried < 3; tried++) {
    uint32_t number = latch_below(90) + 10;
    latch_text args = { 0 };
    latch_put(&args, "{\"buyer\":");
    latch_put_string(&args, buyer);
    latch_putf(&args, ",\"stub\":\"%s\",\"number\":%u}", id, number);
    if (latch_call(answer, "Lottery.Enter", args.bytes, NULL)) {
      time_t now = time(NULL);
      char at[32];
      strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
      latch_log(LATCH_INFO, "stub %s of job %s", id, latch_get_context().job_id);
      latch_putf(&answer->result, "{\"stub\":\"%s\",\"number\":%u,", id, number);
      latch_putf(&answer->result, "\"tried\":%d,\"at\":\"%s\"}", tried + 1, at);
      return true;
    }
    if (answer->code != LATCH_INVALID_INPUT) return false;
    sleep(1);
  }
  return latch_fail(answer, LATCH_POLICY_DENIED, "three numbers of the stub %s were taken", id);
}

LATCH_PLUGIN({
  .name = "Lottery.Draw",
  .description = "Draws a number for a stub and enters it.",
  .input = "{\"type\":\"object\",\"properties\":{\"buyer\":{\"type\":\"string\"}},"
           "\"required\":[\"buyer\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"stub\",\"number\",\"tried\",\"at\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = draw,
});
