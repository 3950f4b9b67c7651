#include "latchwork.h"

typedef struct {
  const char *name;
  double diameter, pitch;
} thread;

static const thread table[] = {
  { "M3", 3, 0.5 },    { "M4", 4, 0.7 },     { "M5", 5, 0.8 },     { "M6", 6, 1 },       { "M8", 8, 1.25 },
  { "M8x1", 8, 1 },    { "M10", 10, 1.5 },   { "M10x1", 10, 1 },   { "M12", 12, 1.75 },  { "M16", 16, 2 },
  { "1/4-20", 6.35, 1.27 }, { "5/16-18", 7.938, 1.411 }, { "3/8-16", 9.525, 1.5875 }, { "1/2-13", 12.7, 1.954 },
};

/* Reads the tolerance of the workshop from the configuration. Without an entry it is 0.15 mm. */
static bool tolerance(latch_answer *answer, double *value) {
  char *text = latch_config("tolerance_mm");
  *value = 0.15;
  if (!text) return true;
  if (!latch_json_number(latch_json_of(text), value) || *value <= 0)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "tolerance_mm in the configuration is not a positive number");
  return true;
}

static bool identify(latch_json args, latch_answer *answer) {
  double diameter, pitch, allowed;
  if (!latch_json_number(latch_json_member(args, "diameter_mm"), &diameter) || !latch_json_number(latch_json_member(args, "pitch_mm"), &pitch))
    return latch_fail(answer, LATCH_INVALID_INPUT, "diameter_mm and pitch_mm are needed");
  if (!tolerance(answer, &allowed)) return false;

  const thread *nearest = NULL;
  double least = 0;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
    /* The outer diameter wears, so the pitch counts three times. */
    double off = fabs(table[i].diameter - diameter) + 3 * fabs(table[i].pitch - pitch);
    if (!nearest || off < least) nearest = &table[i], least = off;
  }
  if (least > allowed * 4) {
    latch_put(&answer->result, "{\"thread\":null,\"sure\":false}");
    return true;
  }
  latch_putf(&answer->result, "{\"thread\":\"%s\",\"sure\":%s}", nearest->name, least <= allowed ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Thread.Identify",
  .description = "Identifies a screw thread by its diameter and pitch.",
  .input = "{\"type\":\"object\",\"properties\":{\"diameter_mm\":{\"type\":\"number\",\"minimum\":0,\"maximum\":1000},"
           "\"pitch_mm\":{\"type\":\"number\",\"minimum\":0,\"maximum\":100}},"
           "\"required\":[\"diameter_mm\",\"pitch_mm\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"thread\":{\"type\":[\"string\",\"null\"]},\"sure\":{\"type\":\"boolean\"}},"
            "\"required\":[\"thread\",\"sure\"]}",
  /* Pure: the answer follows from the arguments and the configuration. */
  .determinism = LATCH_PURE,
  .handler = identify,
});
