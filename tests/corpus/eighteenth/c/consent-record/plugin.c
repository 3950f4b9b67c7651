/* Consent.Record: keeps the consent of a patient to a study. */
#include "latchwork.h"

static char *entry(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "consent:%s", key);
  return name.bytes;
}

/* The answer of a recorded consent: its number, the receipt, and the change. */
static bool recorded(latch_json args, const char *key, latch_answer *answer) {
  char *version = latch_json_string(latch_json_member(args, "version"));
  latch_put(&answer->result, "{\"consent\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"version\":");
  latch_put_string(&answer->result, version ? version : "");
  latch_put(&answer->result, "}");
  latch_text receipt = { 0 };
  latch_put(&receipt, "{\"consent\":");
  latch_put_string(&receipt, key);
  latch_put(&receipt, "}");
  answer->receipt = receipt.bytes;
  latch_changed(answer, (latch_change){ .resource_type = "consent", .resource_id = entry(key),
                                        .operation = "create", .version = version });
  return true;
}

static bool record(latch_json args, latch_answer *answer) {
  char *patient = latch_json_string(latch_json_member(args, "patient"));
  char *study = latch_json_string(latch_json_member(args, "study"));
  char *version = latch_json_string(latch_json_member(args, "version"));
  bool agreed = false;
  if (!patient || !*patient || !study || !*study)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the patient or the study is missing");
  if (!version || !*version) return latch_fail(answer, LATCH_INVALID_INPUT, "the version of the form is missing");
  if (!latch_json_bool(latch_json_member(args, "agreed"), &agreed) || !agreed)
    return latch_fail(answer, LATCH_POLICY_DENIED, "patient %s has not agreed", patient);

  latch_invocation call = latch_get_invocation();
  if (call.tries_before > 0) {
    latch_log(LATCH_INFO, "the consent was recorded by an earlier try");
    return recorded(args, call.external_key, answer);
  }
  latch_text form = { 0 };
  latch_put(&form, "{\"patient\":");
  latch_put_string(&form, patient);
  latch_put(&form, ",\"study\":");
  latch_put_string(&form, study);
  latch_put(&form, ",\"version\":");
  latch_put_string(&form, version);
  latch_put(&form, "}");
  if (!latch_kv_set(answer, entry(call.external_key), form.bytes)) return false;
  return recorded(args, call.external_key, answer);
}

/* Called after a crash: looks for the consent of the call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *form;
  if (!latch_kv_get(answer, entry(key), &form)) return LATCH_UNKNOWN;
  if (!form) return LATCH_DID_NOT_HAPPEN;
  recorded(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Consent.Record",
  .description = "Keeps the consent of a patient to a study.",
  .input = "{\"type\":\"object\",\"properties\":{\"patient\":{\"type\":\"string\"},\"study\":{\"type\":\"string\"},"
           "\"version\":{\"type\":\"string\"},\"agreed\":{\"type\":\"boolean\"}},"
           "\"required\":[\"patient\",\"study\",\"version\",\"agreed\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"consent\",\"version\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = record,
  .reconcile = find,
});
