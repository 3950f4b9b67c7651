#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* Returns true if another yard may have room although this one did not answer. */
static bool is_busy(latch_code code) { return code <= LATCH_DEPENDENCY_UNAVAILABLE; }

static bool find(latch_json input, latch_answer *answer) {
  char *container = latch_json_string(latch_json_member(input, "container"));
  if (!container) return latch_fail(answer, LATCH_INVALID_INPUT, "container is missing");
  latch_json yards = latch_json_member(input, "yards");
  size_t count = latch_json_count(yards);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "no yard is named");

  char *yard = NULL, *reply = NULL;
  for (size_t turn = 0; !reply; turn++) {
    yard = latch_json_string(latch_json_item(yards, turn % count));
    if (!yard) return latch_fail(answer, LATCH_INVALID_INPUT, "yard %zu is no text", turn % count);
    latch_text args = { 0 };
    latch_put(&args, "{\"yard\":");
    latch_put_string(&args, yard);
    latch_put(&args, ",\"container\":");
    latch_put_string(&args, container);
    latch_put(&args, "}");
    reply = latch_call(answer, "Yard.Slot", args.bytes, NULL);
    if (!reply && !is_busy(answer->code)) return false;
    if (!reply) latch_log(LATCH_INFO, "yard %s has no free crane, asking the next one", yard);
  }

  char *slot = latch_json_string(latch_json_member(latch_json_of(reply), "slot"));
  if (!slot) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "yard %s named no slot", yard);
  latch_put(&answer->result, "{\"yard\":");
  latch_put_string(&answer->result, yard);
  latch_put(&answer->result, ",\"slot\":");
  latch_put_string(&answer->result, slot);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Crane.Find",
  .description = "Asks the yards of a harbour in turn for a crane slot.",
  .input = JSON({"type":"object","required":["container","yards"],"additionalProperties":false,"properties":{
    "container":{"type":"string","minLength":4,"maxLength":11},
    "yards":{"type":"array","maxItems":20,"items":{"type":"string","minLength":1,"maxLength":40}}}}),
  .output = JSON({"type":"object","required":["yard","slot"],"additionalProperties":false,"properties":{
    "yard":{"type":"string"},"slot":{"type":"string"}}}),
  .determinism = LATCH_EXTERNAL,
  .handler = find,
});
