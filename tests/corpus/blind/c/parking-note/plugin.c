#include "latchwork.h"

#include <time.h>

static bool noted(const char *key, const char *entry, latch_answer *answer) {
  latch_put(&answer->result, "{\"ticket\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"entry\":");
  latch_put_string(&answer->result, entry);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "ticket", key, "create", .version = entry });
  return true;
}

static bool note(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  if (!plate || !*plate) return latch_fail(answer, LATCH_INVALID_INPUT, "plate is missing");
  char *key = latch_get_invocation().external_key;
  latch_text entry = { 0 };
  latch_putf(&entry, "%lld %s", (long long)time(NULL), plate);
  return latch_kv_set(answer, key, entry.bytes) && noted(key, entry.bytes, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  noted(key, entry, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL;
  if (!entry) return "the ticket is gone";
  return change.version && strcmp(entry, change.version) == 0 ? NULL : "the ticket was changed";
}

static bool cancel(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *entry, *written = latch_json_string(latch_json_member(result, "entry"));
  bool was_there;
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (!entry || !written || strcmp(entry, written) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the ticket was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  latch_changed(answer, (latch_change){ "ticket", key, "delete" });
  latch_put(&answer->result, "null");
  return true;
}

LATCH_PLUGIN({
  .name = "ParkingNote.Write",
  .description = "Notes when a car was parked.",
  .input = "{\"type\":\"object\",\"properties\":{\"plate\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":20}},"
           "\"required\":[\"plate\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"ticket\":{\"type\":\"string\"},\"entry\":{\"type\":\"string\"}},"
            "\"required\":[\"ticket\",\"entry\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = note,
  .reconcile = find,
  .verify = check,
  .compensate = cancel,
});
