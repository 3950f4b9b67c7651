/* Bridle.Measure: lengths of the two legs of a kite's bridle from its spine and the place of the tow point. */
#include "latchwork.h"

static double tenth(double length) { return floor(length * 10 + 0.5) / 10; }

static bool number(latch_json input, const char *name, double otherwise, double *into) {
  *into = otherwise;
  latch_json given = latch_json_member(input, name);
  return latch_json_is_null(given) || latch_json_number(given, into);
}

static void put(latch_text *text, const char *name, double length) {
  latch_putf(text, "\"%s\":", name);
  latch_put_number(text, tenth(length));
}

static bool measure(latch_json input, latch_answer *answer) {
  double spine, upper, lower, tow, standoff;
  if (!number(input, "spine_cm", 0, &spine) || !number(input, "upper_cm", 0, &upper) || !number(input, "lower_cm", 0, &lower) ||
      !number(input, "tow_cm", 0, &tow) || !number(input, "standoff_cm", spine * 0.4, &standoff))
    return latch_fail(answer, LATCH_INVALID_INPUT, "a length is not a number");

  if (upper >= lower || lower > spine) {
    /* The owner of a hundred kites wants to know which drawing this was. */
    latch_context where = latch_get_context();
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s/%s: the upper point (%.1f cm) has to be above the lower one (%.1f cm)",
                      where.plan_id, where.step_id, upper, lower);
  }
  if (tow < upper || tow > lower)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the tow point (%.1f cm) is not between the bridle points", tow);

  double front = sqrt((tow - upper) * (tow - upper) + standoff * standoff);
  double back = sqrt((lower - tow) * (lower - tow) + standoff * standoff);
  double angle = atan2(standoff, tow - upper) * 180 / 3.14159265358979;

  latch_put(&answer->result, "{");
  put(&answer->result, "upper_leg_cm", front);
  latch_put(&answer->result, ",");
  put(&answer->result, "lower_leg_cm", back);
  latch_put(&answer->result, ",");
  put(&answer->result, "line_cm", front + back + 20); /* ten for each knot */
  latch_put(&answer->result, ",");
  put(&answer->result, "angle_deg", angle);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Bridle.Measure",
  .description = "Computes the two legs of a kite's bridle.",
  .input = "{\"type\":\"object\",\"properties\":{\"spine_cm\":{\"type\":\"number\",\"minimum\":10,\"maximum\":600},"
           "\"upper_cm\":{\"type\":\"number\",\"minimum\":0,\"maximum\":600},\"lower_cm\":{\"type\":\"number\",\"minimum\":0,\"maximum\":600},"
           "\"tow_cm\":{\"type\":\"number\",\"minimum\":0,\"maximum\":600},\"standoff_cm\":{\"type\":\"number\",\"minimum\":1,\"maximum\":600}},"
           "\"required\":[\"spine_cm\",\"upper_cm\",\"lower_cm\",\"tow_cm\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"upper_leg_cm\",\"lower_leg_cm\",\"line_cm\",\"angle_deg\"]}",
  .determinism = LATCH_PURE,
  .handler = measure,
});
