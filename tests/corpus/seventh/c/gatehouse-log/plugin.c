#include "latchwork.h"

#include <time.h>

static bool noted(const char *key, const char *entry, latch_answer *answer) {
  latch_put(&answer->result, entry);
  latch_changed(answer, (latch_change){ .resource_type = "visit", .resource_id = key, .operation = "create", .version = entry });
  return true;
}

static bool note(latch_json args, latch_answer *answer) {
  char *visitor = latch_json_string(latch_json_member(args, "visitor"));
  if (!visitor) return latch_fail(answer, LATCH_INVALID_INPUT, "the visitor has no name");
  latch_invocation call = latch_get_invocation();
  latch_log(LATCH_INFO, "attempt %u, %u tries before", call.attempt, call.tries_before);

  /* The time of arrival is that of the first try. */
  char *found;
  if (!latch_kv_get(answer, call.external_key, &found)) return false;
  if (found) return noted(call.external_key, found, answer);
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"at\":%lld,\"visitor\":", (long long)time(NULL));
  latch_put_string(&entry, visitor);
  latch_put(&entry, "}");
  return latch_kv_set(answer, call.external_key, entry.bytes) && noted(call.external_key, entry.bytes, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return found ? "the visit is in the log again" : NULL;
  if (!found) return "the visit is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the visit was changed";
}

static bool same(const char *entry, latch_json result) {
  int64_t at, noted_at;
  char *visitor = latch_json_string(latch_json_member(latch_json_of(entry), "visitor"));
  char *noted_visitor = latch_json_string(latch_json_member(result, "visitor"));
  return visitor && noted_visitor && strcmp(visitor, noted_visitor) == 0 &&
         latch_json_integer(latch_json_member(latch_json_of(entry), "at"), &at) &&
         latch_json_integer(latch_json_member(result, "at"), &noted_at) && at == noted_at;
}

static bool strike(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, key, &found)) return false;
  if (!found || !same(found, result)) return latch_fail(answer, LATCH_POLICY_DENIED, "the visit was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the visit was removed");
  latch_put(&answer->result, "{\"struck\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "visit", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Gatehouse.Note",
  .description = "Notes a visitor with the time of arrival.",
  .input = "{\"type\":\"object\",\"properties\":{\"visitor\":{\"type\":\"string\",\"maxLength\":200}},\"required\":[\"visitor\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"},\"visitor\":{\"type\":\"string\"}},\"required\":[\"at\",\"visitor\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = note,
  .verify = check,
  .compensate = strike,
});
