/* Issues permits for bonfires, with a serial number that is drawn and the time at which the permit was issued. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "permit/%s", key);
  return name.bytes;
}

/* Answers with a permit of the map: the result and the change follow from the entry alone. */
static bool issued(const char *name, const char *entry, latch_answer *answer) {
  latch_json at = latch_json_of(entry);
  char *serial = latch_json_string(latch_json_member(at, "serial"));
  int64_t when;
  if (!serial || !latch_json_integer(latch_json_member(at, "issued"), &when)) {
    latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the entry %s is no permit", name);
    answer->applied_unknown = true;
    return false;
  }
  latch_putf(&answer->result, "{\"serial\":\"%s\",\"issued\":%lld}", serial, (long long)when);
  latch_changed(answer, (latch_change){ .resource_type = "permit", .resource_id = name, .operation = "create", .version = serial });
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *place = latch_json_string(latch_json_member(args, "place"));
  int64_t evening;
  if (!place || !*place || strlen(place) > 500) return latch_fail(answer, LATCH_INVALID_INPUT, "the place is missing or too long");
  if (!latch_json_integer(latch_json_member(args, "evening"), &evening))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the evening is no time");

  /* The permit of an earlier try comes first: it stands, even if the evening has passed since. */
  char *name = entry_name(latch_get_invocation().external_key), *entry;
  if (!latch_kv_get(answer, name, &entry)) return false;
  if (entry) return issued(name, entry, answer);

  int64_t now = (int64_t)time(NULL);
  if (evening <= now) return latch_fail(answer, LATCH_POLICY_DENIED, "the evening has passed");
  uint32_t drawn;
  if (getentropy(&drawn, sizeof drawn) != 0) return latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "no serial could be drawn");
  latch_text made = { 0 };
  latch_putf(&made, "{\"serial\":\"BF-%08x\",\"issued\":%lld,\"evening\":%lld,\"place\":", drawn, (long long)now, (long long)evening);
  latch_put_string(&made, place);
  latch_put(&made, "}");
  return latch_kv_set(answer, name, made.bytes) && issued(name, made.bytes, answer);
}

/* Only an undo removes an entry, so without one a missing entry was never written. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *name = entry_name(key), *entry;
  if (!latch_kv_get(answer, name, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  return issued(name, entry, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

static const char *serial_of(const char *entry) {
  char *serial = latch_json_string(latch_json_member(latch_json_of(entry), "serial"));
  return serial ? serial : "";
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL;
  if (!entry) return "the permit is missing";
  return change.version && strcmp(serial_of(entry), change.version) == 0 ? NULL : "the permit has another serial";
}

static bool revoke(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *name = entry_name(key), *entry, *serial = latch_json_string(latch_json_member(result, "serial"));
  bool was_there;
  if (!latch_kv_get(answer, name, &entry)) return false;
  if (!entry || !serial || strcmp(serial_of(entry), serial) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the permit was removed or issued anew");
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the permit was removed by someone else");
  latch_changed(answer, (latch_change){ .resource_type = "permit", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Bonfire.Permit",
  .description = "Issues a permit for a bonfire.",
  .input = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\"},\"evening\":{\"type\":\"integer\"}},"
           "\"required\":[\"place\",\"evening\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"serial\":{\"type\":\"string\",\"pattern\":\"^BF-[0-9a-f]{8}$\"},"
            "\"issued\":{\"type\":\"integer\"}},\"required\":[\"serial\",\"issued\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 30 * 24 * 60 * 60,
  .handler = issue,
  .reconcile = find,
  .verify = check,
  .compensate = revoke,
});
