#include "latchwork.h"

static bool print_badge(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "name"));
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is empty");
  latch_invocation call = latch_get_invocation();
  /* Each try has a key of its own. */
  latch_text key = { 0 };
  latch_putf(&key, "badge/%s/%u", call.external_key, (unsigned)call.tries_before);
  if (!latch_kv_set(answer, key.bytes, name)) return false;
  latch_put(&answer->result, "{\"badge\":");
  latch_put_string(&answer->result, call.external_key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "badge", .resource_id = call.external_key, .operation = "create" });
  return true;
}

LATCH_PLUGIN({
  .name = "Badge.Print",
  .description = "Prints a badge.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
           "\"required\":[\"name\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"badge\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 3600,
  .handler = print_badge,
});
