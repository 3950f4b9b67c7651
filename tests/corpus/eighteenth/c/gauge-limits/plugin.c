/* Gauge.Judge: compares the reading of a pressure gauge with the limits of the plant, which are in the config. */
#include "latchwork.h"

typedef struct {
  double low, high, margin;
} limits;

/* Reads the limits of a line: {"low": 2.0, "high": 8.5}, with the margin of all lines. */
static bool limits_of(const char *line, limits *found, latch_answer *answer) {
  char *lines = latch_config("lines");
  if (!lines) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the config has no lines");
  latch_json one = latch_json_member(latch_json_of(lines), line);
  if (!latch_json_number(latch_json_member(one, "low"), &found->low) ||
      !latch_json_number(latch_json_member(one, "high"), &found->high))
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the config has no limits for line %s", line);
  if (found->low >= found->high)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the limits of line %s are in the wrong order", line);
  char *margin = latch_config("margin");
  found->margin = 0;
  if (margin && (!latch_json_number(latch_json_of(margin), &found->margin) || found->margin < 0))
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the margin in the config is no number");
  return true;
}

static const char *grade(double bar, limits given) {
  if (bar < given.low) return "too low";
  if (bar > given.high) return "too high";
  if (bar < given.low + given.margin || bar > given.high - given.margin) return "near a limit";
  return "good";
}

static bool judge(latch_json args, latch_answer *answer) {
  char *line = latch_json_string(latch_json_member(args, "line"));
  double bar;
  if (!line || !*line) return latch_fail(answer, LATCH_INVALID_INPUT, "the line is missing");
  if (!latch_json_number(latch_json_member(args, "bar"), &bar) || bar < 0 || bar > 1000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the reading of line %s is out of range", line);
  limits given;
  if (!limits_of(line, &given, answer)) return false;
  const char *found = grade(bar, given);
  latch_log(LATCH_INFO, "line %s: %s", line, found);
  latch_put(&answer->result, "{\"line\":");
  latch_put_string(&answer->result, line);
  latch_putf(&answer->result, ",\"grade\":\"%s\",\"stop\":%s}", found, bar > given.high ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Gauge.Judge",
  .description = "Compares the reading of a pressure gauge with the limits of its line.",
  .input = "{\"type\":\"object\",\"properties\":{\"line\":{\"type\":\"string\"},\"bar\":{\"type\":\"number\"}},"
           "\"required\":[\"line\",\"bar\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"line\",\"grade\",\"stop\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_PURE,
  .handler = judge,
});
