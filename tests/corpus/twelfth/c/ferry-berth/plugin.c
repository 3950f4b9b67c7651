/* Ferry.Berth: finds the first berth that is deep and long enough for a ferry. */
#include "latchwork.h"

static const char *BERTHS[] = { "inner", "middle", "outer", "roads" };

/* The sounding of a berth, as the harbour office last measured it. The office is often busy in the morning. */
static char *sounding(latch_answer *answer, const char *berth) {
  latch_text args = { 0 };
  latch_put(&args, "{\"berth\":");
  latch_put_string(&args, berth);
  latch_put(&args, "}");
  for (;;) {
    char *text = latch_call(answer, "Harbour.Sound", args.bytes, NULL);
    if (text) return text;
    if (answer->code != LATCH_DEPENDENCY_UNAVAILABLE && answer->code != LATCH_NETWORK_TIMEOUT) return NULL;
    latch_log(LATCH_WARN, "the harbour office does not answer: %s", answer->message);
  }
}

static bool find(latch_json input, latch_answer *answer) {
  double draught, length;
  char *ship = latch_json_string(latch_json_member(input, "ship"));
  if (!ship || !latch_json_number(latch_json_member(input, "draught"), &draught) ||
      !latch_json_number(latch_json_member(input, "length"), &length))
    return latch_fail(answer, LATCH_INVALID_INPUT, "ship, draught and length are needed");

  latch_text tried = { 0 };
  latch_put(&tried, "[");
  for (size_t i = 0; i < sizeof BERTHS / sizeof *BERTHS; i++) {
    char *text = sounding(answer, BERTHS[i]);
    if (!text) return false;
    latch_json found = latch_json_of(text);
    double depth, quay;
    if (!latch_json_number(latch_json_member(found, "depth"), &depth) ||
        !latch_json_number(latch_json_member(found, "quay"), &quay))
      return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the sounding of %s is incomplete", BERTHS[i]);
    latch_putf(&tried, "%s\"%s\"", i ? "," : "", BERTHS[i]);
    /* Half a metre of water under the keel. */
    if (depth < draught + 0.5 || quay < length) continue;
    latch_put(&answer->result, "{\"ship\":");
    latch_put_string(&answer->result, ship);
    latch_putf(&answer->result, ",\"berth\":\"%s\",\"tried\":%s]}", BERTHS[i], tried.bytes);
    return true;
  }
  return latch_fail(answer, LATCH_POLICY_DENIED, "no berth takes %s", ship);
}

LATCH_PLUGIN({
  .name = "Ferry.Berth",
  .description = "Finds the first berth that takes a ferry.",
  .input = "{\"type\":\"object\",\"properties\":{\"ship\":{\"type\":\"string\"},"
           "\"draught\":{\"type\":\"number\",\"minimum\":0,\"maximum\":30},"
           "\"length\":{\"type\":\"number\",\"minimum\":0,\"maximum\":500}},"
           "\"required\":[\"ship\",\"draught\",\"length\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ship\",\"berth\",\"tried\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = find,
});
