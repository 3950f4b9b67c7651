#include "latchwork.h"

#include <time.h>

/* The donation book of a museum. An entry is named by the key of its call and has the time of its first making. */

static char *record(latch_json args, int64_t at) {
  latch_text made = { 0 };
  latch_put(&made, "{\"donor\":");
  latch_put_string(&made, latch_json_string(latch_json_member(args, "donor")));
  latch_put(&made, ",\"object\":");
  latch_put_string(&made, latch_json_string(latch_json_member(args, "object")));
  latch_putf(&made, ",\"at\":%lld}", (long long)at);
  return made.bytes;
}

static bool take(latch_json args, latch_answer *answer) {
  char *donor = latch_json_string(latch_json_member(args, "donor"));
  char *object = latch_json_string(latch_json_member(args, "object"));
  if (!donor || !*donor) return latch_fail(answer, LATCH_INVALID_INPUT, "the donor is missing");
  if (!object || !*object) return latch_fail(answer, LATCH_INVALID_INPUT, "the object is missing");

  char *key = latch_get_invocation().external_key, *entry;
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (!entry) {
    entry = record(args, (int64_t)time(NULL));
    if (!latch_kv_set(answer, key, entry)) return false;
  }
  int64_t at;
  if (!latch_json_integer(latch_json_member(latch_json_of(entry), "at"), &at)) {
    latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the entry cannot be read");
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "donation", .resource_id = key, .operation = "create", .version = entry });
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"at\":%lld}", (long long)at);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL; /* not checked: the failure is the answer */
  if (strcmp(change.operation, "delete") == 0) return entry ? "the entry is still in the book" : NULL;
  if (!entry) return "the entry is missing";
  return strcmp(entry, change.version) == 0 ? NULL : "the entry has another text";
}

static bool give_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  int64_t at;
  if (!latch_json_integer(latch_json_member(result, "at"), &at))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the time of the entry is not known");
  char *entry;
  bool was_there;
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (!entry || strcmp(entry, record(args, at)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the entry was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the entry was removed in the meantime");
  latch_changed(answer, (latch_change){ .resource_type = "donation", .resource_id = key, .operation = "delete" });
  latch_put(&answer->result, "{}");
  return true;
}

LATCH_PLUGIN({
  .name = "Donation.Take",
  .description = "Enters a donation into the book of a museum.",
  .input = "{\"type\":\"object\",\"properties\":{\"donor\":{\"type\":\"string\",\"maxLength\":200},\"object\":"
           "{\"type\":\"string\",\"maxLength\":4000}},\"required\":[\"donor\",\"object\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * 86400,
  .handler = take,
  .verify = check,
  .compensate = give_back,
});
