/* Delivery.Confirm: keeps the proof that a parcel was handed over, with the time of the first record. */
#include "latchwork.h"

#include <time.h>

static char *entry(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "proof:%s", key);
  return name.bytes;
}

/* Returns the time that an entry begins with. */
static char *time_of(const char *proof) {
  latch_text at = { 0 };
  latch_put_bytes(&at, proof, strcspn(proof, " "));
  return at.bytes;
}

static bool confirmed(const char *proof, const char *key, latch_answer *answer) {
  char *at = time_of(proof);
  latch_put(&answer->result, "{\"proof\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"at\":\"%s\"}", at);
  latch_changed(answer, (latch_change){ .resource_type = "proof", .resource_id = key, .operation = "create",
                                        .version = at });
  return true;
}

static bool confirm(latch_json args, latch_answer *answer) {
  char *parcel = latch_json_string(latch_json_member(args, "parcel"));
  char *person = latch_json_string(latch_json_member(args, "handed_to"));
  if (!parcel || !*parcel || strlen(parcel) > 80)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the parcel has no usable number");
  if (!person || !*person || strlen(person) > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the name of the person is missing or too long");
  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, entry(key), &found)) {
    answer->applied_unknown = true;
    return false;
  }
  if (found) return confirmed(found, key, answer);

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_text proof = { 0 };
  latch_putf(&proof, "%s %s %s", at, parcel, person);
  if (!latch_kv_set(answer, entry(key), proof.bytes)) return false;
  return confirmed(proof.bytes, key, answer);
}

/* Called after a crash: looks for the proof of the call. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *proof = NULL;
  if (!latch_kv_get(answer, entry(key), &proof) || !proof) return LATCH_DID_NOT_HAPPEN;
  confirmed(proof, key, answer);
  return LATCH_HAPPENED;
}

/* Called when the job is undone: removes the proof. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  bool was_there;
  if (!latch_kv_delete(answer, entry(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the proof is not there any more");
  latch_changed(answer, (latch_change){ .resource_type = "proof", .resource_id = key, .operation = "delete" });
  latch_put(&answer->result, "null");
  return true;
}

LATCH_PLUGIN({
  .name = "Delivery.Confirm",
  .description = "Keeps the proof that a parcel was handed over.",
  .input = "{\"type\":\"object\",\"properties\":{\"parcel\":{\"type\":\"string\"},\"handed_to\":{\"type\":\"string\"}},"
           "\"required\":[\"parcel\",\"handed_to\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"proof\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 3 * 24 * 60 * 60,
  .handler = confirm,
  .reconcile = find,
  .compensate = take_back,
});
