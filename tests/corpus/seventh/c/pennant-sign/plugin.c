#include "latchwork.h"

static bool hoist(latch_json args, latch_answer *answer) {
  char *mast = latch_json_string(latch_json_member(args, "mast")), *colour = latch_json_string(latch_json_member(args, "colour"));
  if (!mast || !colour) return latch_fail(answer, LATCH_INVALID_INPUT, "mast or colour is missing");
  char *key = latch_get_invocation().external_key;
  latch_text pennant = { 0 };
  latch_putf(&pennant, "%s/%s", mast, colour);
  if (!latch_kv_set(answer, key, pennant.bytes)) return false;
  latch_put(&answer->result, "{\"pennant\":");
  latch_put_string(&answer->result, pennant.bytes);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "pennant", key, "create", .version = pennant.bytes });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return found ? "a pennant is hoisted again" : NULL;
  if (!found) return "the pennant was lowered";
  return strcmp(found, change.version) == 0 ? NULL : "another pennant is hoisted";
}

static bool lower(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *hoisted = latch_json_string(latch_json_member(result, "pennant")), *found;
  if (!hoisted) return latch_fail(answer, LATCH_INVALID_INPUT, "the result names no pennant");
  if (!latch_kv_get(answer, key, &found)) return false;
  if (found && strcmp(found, hoisted) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "another pennant is hoisted: %s", found);
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  latch_put(&answer->result, "{\"lowered\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "pennant", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Pennant.Hoist",
  .description = "Hoists a pennant on a mast of the harbour.",
  .input = "{\"type\":\"object\",\"properties\":{\"mast\":{\"type\":\"string\",\"maxLength\":40},\"colour\":{\"type\":\"string\",\"maxLength\":40}},"
           "\"required\":[\"mast\",\"colour\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"pennant\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = hoist,
  .verify = check,
  .compensate = lower,
});
