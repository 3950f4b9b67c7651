#include "latchwork.h"

#include <time.h>

/* Clears a blast in a quarry. The mast on the rim reports the wind; its radio link drops now and then. */
enum { PATIENCE = 15 * 60, STRONGEST = 11 };

static bool link_dropped(latch_code code) {
  return code == LATCH_NETWORK_TIMEOUT || code == LATCH_TEMPORARY_PROVIDER_ERROR || code == LATCH_DEPENDENCY_UNAVAILABLE;
}

static bool clear_blast(latch_json input, latch_answer *answer) {
  char *face = latch_json_string(latch_json_member(input, "face"));
  int64_t charges;
  latch_json_integer(latch_json_member(input, "charges"), &charges);
  latch_text args = { 0 };
  latch_putf(&args, "{\"mast\":\"%s\"}", face);

  /* The blasting window is a quarter of an hour. */
  time_t closes = time(NULL) + PATIENCE;
  char *reading = latch_call(answer, "Mast.Wind", args.bytes, NULL);
  while (!reading && link_dropped(answer->code) && time(NULL) < closes) {
    latch_log(LATCH_INFO, "the mast at %s is silent", face);
    reading = latch_call(answer, "Mast.Wind", args.bytes, NULL);
  }
  if (!reading) return false;

  double wind;
  if (!latch_json_number(latch_json_member(latch_json_of(reading), "metres_per_second"), &wind))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the mast at %s sent no wind", face);
  if (wind > STRONGEST) return latch_fail(answer, LATCH_POLICY_DENIED, "the wind at %s is too strong", face);
  int guards = (int)(2 + charges / 10);
  latch_put(&answer->result, "{\"face\":");
  latch_put_string(&answer->result, face);
  latch_putf(&answer->result, ",\"guards\":%d,\"wind\":", guards);
  latch_put_number(&answer->result, wind);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Blast.Clear",
  .description = "Clears a blast if the wind at the quarry face allows it.",
  .input = "{\"type\":\"object\",\"properties\":{\"face\":{\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9-]{0,39}$\"},"
           "\"charges\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":400}},"
           "\"required\":[\"face\",\"charges\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"face\",\"guards\",\"wind\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = clear_blast,
});
