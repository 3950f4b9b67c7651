#include "latchwork.h"

#include <time.h>

static char *name_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "count %s", key);
  return name.bytes;
}

static bool count_doves(latch_json args, latch_answer *answer) {
  char *loft = latch_json_string(latch_json_member(args, "loft"));
  int64_t doves;
  if (!loft || !*loft || !latch_json_integer(latch_json_member(args, "doves"), &doves))
    return latch_fail(answer, LATCH_INVALID_INPUT, "loft and doves are needed");

  char *name = name_of(latch_get_invocation().external_key), *kept;
  if (!latch_kv_get(answer, name, &kept)) return false;
  if (!kept) {
    /* The time is taken once. A repetition finds the entry and keeps it. */
    latch_text value = { 0 };
    latch_put(&value, "{\"loft\":");
    latch_put_string(&value, loft);
    latch_putf(&value, ",\"doves\":%lld,\"at\":%lld}", (long long)doves, (long long)time(NULL));
    if (!latch_kv_set(answer, name, value.bytes)) return false;
    kept = value.bytes;
  }

  int64_t at = 0;
  latch_json_integer(latch_json_member(latch_json_of(kept), "at"), &at);
  latch_put(&answer->result, "{\"count\":");
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"at\":%lld}", (long long)at);
  latch_changed(answer, (latch_change){ .resource_type = "count", .resource_id = name, .operation = "create", .version = kept });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the count is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the count was changed";
}

/* Removes the count. A count that was removed or has another time is left to a person. */
static bool strike(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *name = name_of(key), *found;
  int64_t at, then;
  if (!latch_kv_get(answer, name, &found)) return false;
  if (!found || !latch_json_integer(latch_json_member(latch_json_of(found), "at"), &at) ||
      !latch_json_integer(latch_json_member(result, "at"), &then) || at != then)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the count was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the count was removed");
  latch_changed(answer, (latch_change){ .resource_type = "count", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Dovecote.Count",
  .description = "Records a count of the doves in a loft.",
  .input = "{\"type\":\"object\",\"properties\":{\"loft\":{\"type\":\"string\",\"maxLength\":100},"
           "\"doves\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10000}},"
           "\"required\":[\"loft\",\"doves\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"count\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 3 * 86400,
  .handler = count_doves,
  .verify = check,
  .compensate = strike,
});
