#include "latchwork.h"

/* Reports where a ship is. The tracker is known to drop every tenth request. */
static bool locate(latch_json input, latch_answer *answer) {
  char *ship = latch_json_string(latch_json_member(input, "ship"));
  if (!ship || !*ship) return latch_fail(answer, LATCH_INVALID_INPUT, "ship is missing");

  latch_text args = { 0 };
  latch_put(&args, "{\"ship\":");
  latch_put_string(&args, ship);
  latch_put(&args, "}");

  char *reply = NULL;
  for (int round = 1; !reply; round++) {
    reply = latch_call(answer, "Tracker.Position", args.bytes, NULL);
    if (!reply) latch_log(LATCH_WARN, "round %d: no position of %s", round, ship);
  }

  latch_json position = latch_json_of(reply);
  char *port = latch_json_string(latch_json_member(position, "port"));
  latch_put(&answer->result, "{\"ship\":");
  latch_put_string(&answer->result, ship);
  latch_put(&answer->result, ",\"where\":");
  latch_put_string(&answer->result, port ? port : "at sea");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Harbor.Locate",
  .description = "Reports the port in which a ship lies.",
  .determinism = LATCH_EXTERNAL,
  .input = "{\"type\":\"object\",\"required\":[\"ship\"],\"properties\":{\"ship\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"ship\",\"where\"],\"properties\":{\"ship\":{\"type\":\"string\"},\"where\":{\"type\":\"string\"}}}",
  .handler = locate,
});
