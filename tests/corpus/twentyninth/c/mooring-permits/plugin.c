#include "latchwork.h"

#include <time.h>

/* Permits of a harbour. A permit is issued once for its call: a repetition finds the permit of the first try, with the
 * time at which that try issued it. */

#define DAY 86400

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "permit/%s", key);
  return name.bytes;
}

/* The entry of a permit with these arguments that was issued at this time. */
static char *contents_of(latch_json args, int64_t issued_at) {
  int64_t until = 0;
  latch_text entry = { 0 };
  latch_json_integer(latch_json_member(args, "until"), &until);
  latch_put(&entry, "{\"boat\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "boat")));
  latch_put(&entry, ",\"berth\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "berth")));
  latch_putf(&entry, ",\"issued_at\":%lld,\"until\":%lld}", (long long)issued_at, (long long)until);
  return entry.bytes;
}

static bool issued(const char *key, const char *entry, latch_answer *answer) {
  latch_json permit = latch_json_of(entry);
  latch_put(&answer->result, "{\"permit\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"issued_at\":%s,\"until\":%s}", latch_json_text(latch_json_member(permit, "issued_at")),
             latch_json_text(latch_json_member(permit, "until")));
  latch_changed(answer, (latch_change){ .resource_type = "mooring permit", .resource_id = key, .operation = "create", .version = entry });
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *boat = latch_json_string(latch_json_member(args, "boat"));
  char *berth = latch_json_string(latch_json_member(args, "berth"));
  int64_t until;
  if (!boat || !berth || !latch_json_integer(latch_json_member(args, "until"), &until))
    return latch_fail(answer, LATCH_INVALID_INPUT, "boat, berth or until is missing");

  char *key = latch_get_invocation().external_key, *entry;
  if (!latch_kv_get(answer, entry_of(key), &entry)) return false;
  if (entry) return issued(key, entry, answer);

  /* Only now: a repetition may come after the end of a short permit. */
  int64_t now = (int64_t)time(NULL);
  if (until <= now) return latch_fail(answer, LATCH_INVALID_INPUT, "the permit would have ended already");
  if (until - now > 800 * (int64_t)DAY) return latch_fail(answer, LATCH_POLICY_DENIED, "a permit lasts at most 800 days");

  char *fresh = contents_of(args, now);
  return latch_kv_set(answer, entry_of(key), fresh) && issued(key, fresh, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &entry)) return NULL;
  if (!entry) return "the permit is missing";
  return change.version && strcmp(entry, change.version) == 0 ? NULL : "the permit has other contents";
}

static bool revoke(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *entry;
  bool was_there;
  int64_t issued_at = 0;
  if (!latch_kv_get(answer, entry_of(key), &entry)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!entry) return latch_fail(answer, LATCH_POLICY_DENIED, "the permit is no longer there");
  if (!latch_json_integer(latch_json_member(result, "issued_at"), &issued_at) || strcmp(entry, contents_of(args, issued_at)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the permit has other contents");
  if (!latch_kv_delete(answer, entry_of(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the permit is no longer there");
  latch_changed(answer, (latch_change){ .resource_type = "mooring permit", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Mooring.Issue",
  .description = "Issues a permit for a berth.",
  .input = "{\"type\":\"object\",\"properties\":{\"boat\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"berth\":{\"type\":\"string\",\"pattern\":\"^[A-Z][0-9]{1,3}$\"},"
           "\"until\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4102444800}},"
           "\"required\":[\"boat\",\"berth\",\"until\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"permit\",\"issued_at\",\"until\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = DAY,
  .handler = issue,
  .verify = check,
  .compensate = revoke,
});
