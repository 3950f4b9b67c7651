#include "latchwork.h"

#include <time.h>

/* Issues numbered seals for trucks. The entry of a seal has the time of its issue, so a repeated call keeps the entry
 * that it finds. */

static char *seal_id(const char *key) {
  latch_text id = { 0 };
  latch_putf(&id, "seal/%s", key);
  return id.bytes;
}

/* Returns the entry of a seal, or NULL if an argument is no plain value. */
static char *entry_of(latch_json args, int64_t *valid_until, int64_t issued_at) {
  char *truck = latch_json_string(latch_json_member(args, "truck"));
  int64_t number;
  if (!truck || !latch_json_integer(latch_json_member(args, "number"), &number) ||
      !latch_json_integer(latch_json_member(args, "valid_until"), valid_until))
    return NULL;
  latch_text entry = { 0 };
  latch_put(&entry, "{\"truck\":");
  latch_put_string(&entry, truck);
  latch_putf(&entry, ",\"number\":%lld,\"valid_until\":%lld,\"issued_at\":%lld}", (long long)number,
             (long long)*valid_until, (long long)issued_at);
  return entry.bytes;
}

/* The answer of a call follows from the entry alone. */
static bool issued(const char *id, const char *entry, latch_answer *answer) {
  int64_t at;
  if (!latch_json_integer(latch_json_member(latch_json_of(entry), "issued_at"), &at)) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the entry of the seal cannot be read");
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "seal", .resource_id = id, .operation = "create", .version = entry });
  latch_put(&answer->result, "{\"seal\":");
  latch_put_string(&answer->result, id);
  latch_putf(&answer->result, ",\"issued_at\":%lld}", (long long)at);
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  int64_t now = (int64_t)time(NULL), valid_until;
  char *entry = entry_of(args, &valid_until, now);
  if (!entry) return latch_fail(answer, LATCH_INVALID_INPUT, "truck, number or valid_until is no plain value");

  char *id = seal_id(latch_get_invocation().external_key), *found;
  if (!latch_kv_get(answer, id, &found)) {
    answer->applied_unknown = false; /* a failed read, before any write of this try */
    return false;
  }
  if (found) return issued(id, found, answer);
  if (valid_until <= now) return latch_fail(answer, LATCH_INVALID_INPUT, "the seal would have expired already");
  if (!latch_kv_set(answer, id, entry)) return false;
  return issued(id, entry, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the seal has no entry";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry of the seal was changed";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *id = seal_id(key), *found;
  if (!latch_kv_get(answer, id, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  int64_t at, valid_until;
  char *wanted = NULL;
  if (latch_json_integer(latch_json_member(result, "issued_at"), &at)) wanted = entry_of(args, &valid_until, at);
  if (!found || !wanted || strcmp(found, wanted) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the seal was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, id, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the seal was removed");
  latch_changed(answer, (latch_change){ .resource_type = "seal", .resource_id = id, .operation = "delete" });
  latch_put(&answer->result, "{\"withdrawn\":true}");
  return true;
}

LATCH_PLUGIN({
  .name = "Seal.Issue",
  .description = "Issues a numbered seal for a truck.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"truck\",\"number\",\"valid_until\"],"
           "\"properties\":{\"truck\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
           "\"number\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":999999999},"
           "\"valid_until\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":99999999999}}}",
  .output = "{\"type\":\"object\",\"required\":[\"seal\",\"issued_at\"],\"properties\":{\"seal\":{\"type\":\"string\"},"
            "\"issued_at\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 604800,
  .handler = issue,
  .verify = check,
  .compensate = withdraw,
});
