/* Draws the seats that get a prize. The draw is announced with its number, and can be repeated with the same number by
 * everyone who was there. The generator is that of the C library, seeded with the number of the draw. */
#include "latchwork.h"

static bool draw(latch_json input, latch_answer *answer) {
  int64_t number, seats, prizes;
  if (!latch_json_integer(latch_json_member(input, "draw"), &number) ||
      !latch_json_integer(latch_json_member(input, "seats"), &seats) ||
      !latch_json_integer(latch_json_member(input, "prizes"), &prizes) || seats < 1 || seats > 2000 || prizes < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "draw, seats or prizes is missing or out of range");
  if (prizes > seats) return latch_fail(answer, LATCH_INVALID_INPUT, "more prizes than seats");
  static int order[2000];
  for (int i = 0; i < (int)seats; i++) order[i] = i + 1;
  srand((unsigned)number);
  for (int i = (int)seats - 1; i > 0; i--) {
    int other = rand() % (i + 1), seat = order[i];
    order[i] = order[other];
    order[other] = seat;
  }
  latch_log(LATCH_INFO, "draw %lld of job %s", (long long)number, latch_get_context().job_id);
  latch_put(&answer->result, "{\"seats\":[");
  for (int i = 0; i < (int)prizes; i++) latch_putf(&answer->result, "%s%d", i ? "," : "", order[i]);
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Lucky.Seats",
  .description = "Draws the seats that get a prize.",
  .input = "{\"type\":\"object\",\"properties\":{\"draw\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4000000},"
           "\"seats\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":2000},\"prizes\":{\"type\":\"integer\","
           "\"minimum\":0}},\"required\":[\"draw\",\"seats\",\"prizes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"seats\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
            "\"required\":[\"seats\"]}",
  .determinism = LATCH_STABLE,
  .handler = draw,
});
