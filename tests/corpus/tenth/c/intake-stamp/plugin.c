#include "latchwork.h"

#include <time.h>

/* Stamps the arrival of a sample in the laboratory. An entry is named by the key of its call and is never
 * replaced: a repetition keeps the time of the first try. */

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "intake/%s", key);
  return name.bytes;
}

static char *stamp_of(const char *sample, const char *at) {
  latch_text stamp = { 0 };
  latch_put(&stamp, "{\"sample\":");
  latch_put_string(&stamp, sample);
  latch_put(&stamp, ",\"at\":");
  latch_put_string(&stamp, at);
  latch_put(&stamp, "}");
  return stamp.bytes;
}

/* The answer follows from the entry alone, so that a repetition and reconcile give the one of the first try. */
static void answer_with(latch_answer *answer, const char *entry, const char *stamp) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, entry);
  latch_putf(&answer->result, ",\"stamp\":%s}", stamp);
  latch_changed(answer, (latch_change){ "intake", entry, "create", .version = stamp });
}

static bool stamp(latch_json args, latch_answer *answer) {
  char *sample = latch_json_string(latch_json_member(args, "sample"));
  if (!sample || !*sample || strlen(sample) > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the name of the sample is empty or too long");
  char *entry = entry_of(latch_get_invocation().external_key), *there;
  if (!latch_kv_get(answer, entry, &there)) return false;
  if (!there) {
    char at[32];
    time_t now = time(NULL);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    there = stamp_of(sample, at);
    if (!latch_kv_set(answer, entry, there)) return false;
  }
  answer_with(answer, entry, there);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *entry = entry_of(key), *there;
  if (!latch_kv_get(answer, entry, &there)) return LATCH_UNKNOWN;
  if (!there) return LATCH_DID_NOT_HAPPEN;
  answer_with(answer, entry, there);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *there;
  if (!latch_kv_get(answer, change.resource_id, &there)) return NULL;
  if (!there) return "the stamp is gone";
  return change.version && strcmp(there, change.version) == 0 ? NULL : "the stamp was changed";
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *sample = latch_json_string(latch_json_member(args, "sample"));
  char *at = latch_json_string(latch_json_member(latch_json_member(result, "stamp"), "at"));
  char *entry = entry_of(key), *there;
  bool was_there;
  if (!latch_kv_get(answer, entry, &there)) return false;
  if (!there || !sample || !at || strcmp(there, stamp_of(sample, at)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the stamp was changed or removed");
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the stamp was removed meanwhile");
  latch_changed(answer, (latch_change){ .resource_type = "intake", .resource_id = entry, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Intake.Stamp",
  .description = "Stamps the arrival of a sample.",
  .input = "{\"type\":\"object\",\"properties\":{\"sample\":{\"type\":\"string\",\"maxLength\":200}},"
           "\"required\":[\"sample\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"stamp\":{\"type\":\"object\"}},"
            "\"required\":[\"id\",\"stamp\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 30 * 24 * 3600, /* entries stay for ever */
  .handler = stamp,
  .reconcile = find,
  .verify = check,
  .compensate = take_back,
});
