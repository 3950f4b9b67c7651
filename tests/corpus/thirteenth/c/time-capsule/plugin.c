/* Capsule.Bury: keeps a message until a year, with a random seal. The entry is stored under the key of the call and has
 * everything that the answer needs, so a later question gets the seal of the first answer. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Writes the answer of an entry: `{"seal":..,"opens":..,"buried":..,"message":..}`. */
static bool buried(const char *key, const char *entry, latch_answer *answer) {
  latch_json kept = latch_json_of(entry);
  char *seal = latch_json_string(latch_json_member(kept, "seal"));
  int64_t opens, at;
  if (!seal || !latch_json_integer(latch_json_member(kept, "opens"), &opens) || !latch_json_integer(latch_json_member(kept, "buried"), &at))
    return false;
  latch_putf(&answer->result, "{\"seal\":\"%s\",\"opens\":%lld,\"buried\":%lld}", seal, (long long)opens, (long long)at);
  latch_text receipt = { 0 };
  latch_putf(&receipt, "{\"seal\":\"%s\"}", seal);
  answer->receipt = receipt.bytes;
  latch_changed(answer, (latch_change){ .resource_type = "capsule", .resource_id = key, .operation = "create", .version = seal });
  return true;
}

static bool bury(latch_json args, latch_answer *answer) {
  char *message = latch_json_string(latch_json_member(args, "message"));
  int64_t opens;
  if (!message || !latch_json_integer(latch_json_member(args, "opens"), &opens))
    return latch_fail(answer, LATCH_INVALID_INPUT, "a capsule has a message and a year");

  uint8_t random[4];
  if (getentropy(random, sizeof random) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "no random numbers for the seal");
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"seal\":\"%02x%02x%02x%02x\",\"opens\":%lld,\"buried\":%lld,\"message\":", random[0], random[1], random[2],
             random[3], (long long)opens, (long long)time(NULL));
  latch_put_string(&entry, message);
  latch_put(&entry, "}");

  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key, entry.bytes) && buried(key, entry.bytes, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  return buried(key, entry, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL; /* the failure is the answer */
  if (!entry) return "the capsule was dug up";
  char *seal = latch_json_string(latch_json_member(latch_json_of(entry), "seal"));
  return seal && change.version && strcmp(seal, change.version) == 0 ? NULL : "the capsule has another seal";
}

static bool dig_up(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *entry, *wanted = latch_json_string(latch_json_member(result, "seal")), *message = latch_json_string(latch_json_member(args, "message"));
  if (!latch_kv_get(answer, key, &entry)) {
    answer->applied_unknown = false; /* nothing was touched yet */
    return false;
  }
  latch_json kept = latch_json_of(entry ? entry : "null");
  char *seal = latch_json_string(latch_json_member(kept, "seal")), *inside = latch_json_string(latch_json_member(kept, "message"));
  if (!seal || !wanted || strcmp(seal, wanted) != 0 || !inside || !message || strcmp(inside, message) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the capsule was dug up or opened since");
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "somebody else dug the capsule up");
  latch_put(&answer->result, "{\"dug_up\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "capsule", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Capsule.Bury",
  .description = "Keeps a message in a capsule until a year.",
  .input = "{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":2000},"
           "\"opens\":{\"type\":\"integer\",\"minimum\":2027,\"maximum\":9999}},\"required\":[\"message\",\"opens\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"seal\":{\"type\":\"string\"},\"opens\":{\"type\":\"integer\"},\"buried\":{\"type\":\"integer\"}},"
            "\"required\":[\"seal\",\"opens\",\"buried\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = bury,
  .reconcile = find,
  .verify = check,
  .compensate = dig_up,
});
