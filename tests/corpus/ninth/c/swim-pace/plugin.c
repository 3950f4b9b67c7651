#include "latchwork.h"

/* Computes the pace per 100 m of a swim, as the board at the pool shows it. */

static bool pace(latch_json input, latch_answer *answer) {
  int64_t metres, seconds;
  if (!latch_json_integer(latch_json_member(input, "metres"), &metres) || metres < 25)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a swim has at least 25 m");
  if (!latch_json_integer(latch_json_member(input, "seconds"), &seconds) || seconds < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the time is missing");

  /* tenths of a second for 100 m, rounded */
  int64_t tenths = (seconds * 1000 + metres / 2) / metres;
  int minutes = (int)(tenths / 600), rest = (int)(tenths / 10 % 60), tenth = (int)(tenths % 10);

  const char *level = tenths < 750 ? "fast" : tenths < 1200 ? "steady" : "easy";
  latch_putf(&answer->result, "{\"minutes\":%d,\"seconds\":%02d.%d,\"board\":\"%d:%02d.%d\",\"level\":\"%s\"}",
             minutes, rest, tenth, minutes, rest, tenth, level);
  return true;
}

LATCH_PLUGIN({
  .name = "Swim.Pace",
  .description = "Computes the pace per 100 m of a swim.",
  .input = "{\"type\":\"object\",\"properties\":{\"metres\":{\"type\":\"integer\",\"minimum\":25,\"maximum\":50000},"
           "\"seconds\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":86400}},"
           "\"required\":[\"metres\",\"seconds\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"minutes\":{\"type\":\"integer\"},\"seconds\":{\"type\":\"number\"},"
            "\"board\":{\"type\":\"string\"},\"level\":{\"type\":\"string\"}},"
            "\"required\":[\"minutes\",\"seconds\",\"board\",\"level\"]}",
  .determinism = LATCH_PURE,
  .handler = pace,
});
