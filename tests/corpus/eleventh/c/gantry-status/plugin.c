#include "latchwork.h"

#include <unistd.h>

static bool report(latch_json input, latch_answer *answer) {
  char *gantry = latch_json_string(latch_json_member(input, "gantry"));
  if (!gantry || !*gantry) return latch_fail(answer, LATCH_INVALID_INPUT, "gantry is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"gantry\":");
  latch_put_string(&args, gantry);
  latch_put(&args, "}");

  /* The controller restarts at times and is back after a minute or two. */
  char *reading = latch_call(answer, "Gantry.Read", args.bytes, NULL);
  while (!reading) {
    latch_log(LATCH_WARN, "gantry %s did not answer: %s", gantry, answer->message);
    sleep(30);
    reading = latch_call(answer, "Gantry.Read", args.bytes, NULL);
  }

  latch_json state = latch_json_of(reading);
  int64_t load = 0;
  char *mode = latch_json_string(latch_json_member(state, "mode"));
  if (!mode || !latch_json_integer(latch_json_member(state, "load_kg"), &load))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the reading of gantry %s has no mode or no load", gantry);

  latch_put(&answer->result, "{\"gantry\":");
  latch_put_string(&answer->result, gantry);
  latch_put(&answer->result, ",\"mode\":");
  latch_put_string(&answer->result, mode);
  latch_putf(&answer->result, ",\"load_kg\":%lld,\"free\":%s}", (long long)load,
             strcmp(mode, "idle") == 0 && load == 0 ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "GantryStatus.Report",
  .description = "Reports whether a gantry crane is free.",
  .input = "{\"type\":\"object\",\"properties\":{\"gantry\":{\"type\":\"string\"}},\"required\":[\"gantry\"],"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"gantry\":{\"type\":\"string\"},\"mode\":{\"type\":\"string\"},"
            "\"load_kg\":{\"type\":\"integer\"},\"free\":{\"type\":\"boolean\"}},\"required\":[\"gantry\",\"mode\",\"load_kg\",\"free\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = report,
});
