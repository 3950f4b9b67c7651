#include "latchwork.h"

/* Registers the vials of a laboratory. */

static const char *entry_of(const char *key) {
  static char entry[40];
  snprintf(entry, sizeof entry, "vial/%s", key);
  return entry;
}

static void describe(latch_json args, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"vial\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"patient\":");
  latch_put(&answer->result, latch_json_text(latch_json_member(args, "patient")));
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "vial", key, "create", .external_ref = entry_of(key) });
}

static bool enter(latch_json args, latch_answer *answer) {
  char *patient = latch_json_string(latch_json_member(args, "patient"));
  char *tube = latch_json_string(latch_json_member(args, "tube"));
  if (!patient || !*patient) return latch_fail(answer, LATCH_INVALID_INPUT, "the patient is missing");
  if (!tube || !*tube) return latch_fail(answer, LATCH_INVALID_INPUT, "the tube is missing");

  latch_text record = { 0 };
  latch_put(&record, "{\"patient\":");
  latch_put_string(&record, patient);
  latch_put(&record, ",\"tube\":");
  latch_put_string(&record, tube);
  latch_put(&record, "}");

  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry_of(key), record.bytes)) return false;
  describe(args, key, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *record;
  if (!latch_kv_get(answer, entry_of(key), &record)) return LATCH_UNKNOWN;
  if (!record) return LATCH_DID_NOT_HAPPEN;
  describe(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Vial.Register",
  .description = "Registers a vial of a patient.",
  .input = "{\"type\":\"object\",\"properties\":{\"patient\":{\"type\":\"string\",\"maxLength\":80},"
           "\"tube\":{\"type\":\"string\",\"maxLength\":40}},\"required\":[\"patient\",\"tube\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"vial\":{\"type\":\"string\"},\"patient\":{\"type\":\"string\"}},"
            "\"required\":[\"vial\",\"patient\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = enter,
  .reconcile = find,
});
