#include "latchwork.h"

#include <unistd.h>

/* Asks the harbour office for the clearance of a ship, and looks for a free pier. */

static bool clear(latch_json input, latch_answer *answer) {
  char *ship = latch_json_string(latch_json_member(input, "ship"));
  double draught;
  if (!ship || !*ship) return latch_fail(answer, LATCH_INVALID_INPUT, "ship is missing");
  if (!latch_json_number(latch_json_member(input, "draught"), &draught))
    return latch_fail(answer, LATCH_INVALID_INPUT, "draught is missing");

  latch_text question = { 0 };
  latch_put(&question, "{\"ship\":");
  latch_put_string(&question, ship);
  latch_put(&question, "}");

  /* The office goes offline for minutes at a time, mostly at night. */
  char *clearance;
  while (!(clearance = latch_call(answer, "Harbour.Clearance", question.bytes, NULL))) {
    if (answer->code >= LATCH_POLICY_DENIED) return false; /* a final answer */
    latch_log(LATCH_WARN, "harbour office: %s", answer->message);
    sleep(60);
  }
  bool granted = false;
  if (!latch_json_bool(latch_json_member(latch_json_of(clearance), "granted"), &granted))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the harbour office gave no decision");

  const char *pier = NULL;
  latch_json piers = latch_json_member(input, "piers");
  for (size_t i = 0; granted && !pier && i < latch_json_count(piers); i++) {
    double depth;
    latch_json it = latch_json_item(piers, i);
    if (latch_json_number(latch_json_member(it, "depth"), &depth) && depth >= draught + 0.5)
      pier = latch_json_string(latch_json_member(it, "name"));
  }
  latch_putf(&answer->result, "{\"granted\":%s,\"pier\":", granted ? "true" : "false");
  if (pier) latch_put_string(&answer->result, pier);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Pier.Clear",
  .description = "Asks for the clearance of a ship and chooses a pier.",
  .input = "{\"type\":\"object\",\"properties\":{\"ship\":{\"type\":\"string\",\"maxLength\":100},\"draught\":{\"type\":\"number\"},"
           "\"piers\":{\"type\":\"array\",\"maxItems\":50,\"items\":{\"type\":\"object\"}}},\"required\":[\"ship\",\"draught\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"granted\":{\"type\":\"boolean\"},\"pier\":{\"type\":[\"string\",\"null\"]}},"
            "\"required\":[\"granted\",\"pier\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = clear,
});
