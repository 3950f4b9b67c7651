#include "latchwork.h"

/* Keeps who has which locker of a swimming hall. The entry of a locker names the call that wrote it last. */

static char *locker_key(int64_t locker) {
  latch_text key = { 0 };
  latch_putf(&key, "locker/%lld", (long long)locker);
  return key.bytes;
}

static char *record(const char *holder, const char *note, const char *call) {
  latch_text text = { 0 };
  latch_put(&text, "{\"holder\":");
  latch_put_string(&text, holder);
  latch_put(&text, ",\"note\":");
  latch_put_string(&text, note);
  latch_put(&text, ",\"call\":");
  latch_put_string(&text, call);
  latch_put(&text, "}");
  return text.bytes;
}

static char *member(const char *text, const char *name) {
  return text ? latch_json_string(latch_json_member(latch_json_of(text), name)) : NULL;
}

static bool assign(latch_json args, latch_answer *answer) {
  int64_t locker;
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  latch_json given = latch_json_member(args, "note");
  char *note = given.at ? latch_json_string(given) : "";
  if (!latch_json_integer(latch_json_member(args, "locker"), &locker) || !holder || !note)
    return latch_fail(answer, LATCH_INVALID_INPUT, "locker, holder or note is no plain value");
  char *key = latch_get_invocation().external_key, *id = locker_key(locker), *before;
  if (!latch_kv_get(answer, id, &before)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!latch_kv_set(answer, id, record(holder, note, key))) return false;
  latch_changed(answer, (latch_change){ .resource_type = "locker", .resource_id = id, .operation = "update", .version = key });
  latch_putf(&answer->result, "{\"locker\":%lld,\"previous_holder\":", (long long)locker);
  char *previous = member(before, "holder");
  if (previous) latch_put_string(&answer->result, previous);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the locker has no holder";
  char *call = member(found, "call");
  return call && change.version && strcmp(call, change.version) == 0 ? NULL : "the locker was handed over again";
}

static bool hand_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  int64_t locker;
  if (!latch_json_integer(latch_json_member(args, "locker"), &locker))
    return latch_fail(answer, LATCH_INVALID_INPUT, "locker is missing");
  char *id = locker_key(locker), *found;
  if (!latch_kv_get(answer, id, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  char *call = member(found, "call");
  if (!call || strcmp(call, key) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the locker was handed over again or cleared");
  char *previous = latch_json_string(latch_json_member(result, "previous_holder"));
  if (previous) {
    if (!latch_kv_set(answer, id, record(previous, "", key))) return false;
  } else {
    bool was_there;
    if (!latch_kv_delete(answer, id, &was_there)) return false;
    if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the locker was cleared");
  }
  latch_changed(answer, (latch_change){ .resource_type = "locker", .resource_id = id, .operation = previous ? "update" : "delete" });
  latch_put(&answer->result, "{\"handed_back\":true}");
  return true;
}

LATCH_PLUGIN({
  .name = "Locker.Assign",
  .description = "Gives a locker to a guest in place of its previous holder.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"locker\",\"holder\"],\"properties\":{"
           "\"locker\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":900},"
           "\"holder\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},\"note\":{\"type\":\"string\",\"maxLength\":400}}}",
  .output = "{\"type\":\"object\",\"required\":[\"locker\",\"previous_holder\"],\"properties\":{"
            "\"locker\":{\"type\":\"integer\"},\"previous_holder\":{\"type\":[\"string\",\"null\"]}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = assign,
  .verify = check,
  .compensate = hand_back,
});
