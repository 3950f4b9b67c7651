#include "latchwork.h"

/* Sun.Times is a table of computed times and declares `pure`. */
static bool page(latch_json input, latch_answer *answer) {
  char *place = latch_json_string(latch_json_member(input, "place"));
  char *day = latch_json_string(latch_json_member(input, "day"));
  if (!place || !day) return latch_fail(answer, LATCH_INVALID_INPUT, "place or day is missing");

  latch_text args = { 0 };
  latch_put(&args, "{\"place\":");
  latch_put_string(&args, place);
  latch_put(&args, ",\"day\":");
  latch_put_string(&args, day);
  latch_put(&args, "}");
  char *found = latch_call(answer, "Sun.Times", args.bytes, NULL);
  if (!found) {
    latch_context context = latch_get_context();
    latch_code code = answer->code;
    char *cause = answer->message;
    return latch_fail(answer, code, "no times for %s: %s (ask the desk about %s)", place, cause, context.correlation_id);
  }

  latch_json times = latch_json_of(found);
  char *rise = latch_json_string(latch_json_member(times, "rise")), *set = latch_json_string(latch_json_member(times, "set"));
  latch_text line = { 0 };
  if (rise && set) latch_putf(&line, "%s, %s: sun from %s to %s", place, day, rise, set);
  else latch_putf(&line, "%s, %s: no sunrise", place, day);
  latch_put(&answer->result, "{\"line\":");
  latch_put_string(&answer->result, line.bytes);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Almanac.Page",
  .description = "Writes the line of an almanac for a place and a day.",
  .input = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\"},\"day\":{\"type\":\"string\"}},\"required\":[\"place\",\"day\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"line\"]}",
  .determinism = LATCH_PURE,
  .handler = page,
});
