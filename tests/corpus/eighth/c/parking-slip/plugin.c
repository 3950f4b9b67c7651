#include "latchwork.h"

#include <time.h>

/* Issues a parking slip. The time of issue is that of the first try: a repetition finds the slip and keeps it. */
static bool issue(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  if (!plate || !*plate || strlen(plate) > 20) return latch_fail(answer, LATCH_INVALID_INPUT, "plate is missing or too long");
  char *key = latch_get_invocation().external_key, *slip;
  if (!latch_kv_get(answer, key, &slip)) return false;
  if (!slip) {
    latch_text made = { 0 };
    latch_putf(&made, "%lld %s", (long long)time(NULL), plate);
    if (!latch_kv_set(answer, key, made.bytes)) {
      answer->applied_unknown = true;
      return false;
    }
    slip = made.bytes;
  }
  latch_changed(answer, (latch_change){ "slip", key, "create", .version = slip });
  latch_put(&answer->result, "{\"slip\":");
  latch_put_string(&answer->result, slip);
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *slip;
  if (!latch_kv_get(answer, change.resource_id, &slip)) return NULL;
  if (!slip) return "there is no such slip";
  return strcmp(slip, change.version) == 0 ? NULL : "the slip has another text";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *slip, *issued = latch_json_string(latch_json_member(result, "slip"));
  bool was_there = false;
  if (!latch_kv_get(answer, key, &slip)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!slip || !issued || strcmp(slip, issued) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the slip was withdrawn or changed by another party");
  if (!latch_kv_delete(answer, key, &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the slip was withdrawn by another party");
  latch_changed(answer, (latch_change){ "slip", key, "delete" });
  latch_put(&answer->result, "null");
  return true;
}

LATCH_PLUGIN({
  .name = "Parking.Issue",
  .description = "Issues a parking slip for a car.",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 86400,
  .input = "{\"type\":\"object\",\"required\":[\"plate\"],\"properties\":{\"plate\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"slip\"],\"properties\":{\"slip\":{\"type\":\"string\"}}}",
  .handler = issue,
  .verify = check,
  .compensate = withdraw,
});
