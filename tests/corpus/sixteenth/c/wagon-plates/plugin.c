/* Plate.Enter: enters the plate of a goods wagon in the roll of a yard. */
#include "latchwork.h"

#include <ctype.h>

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "plate/%s", key);
  return name.bytes;
}

/* Returns the plate as the roll has it: capital letters and digits only. */
static char *plain(const char *plate) {
  latch_text text = { 0 };
  latch_put(&text, "");
  for (; *plate; plate++) {
    char c = (char)toupper((unsigned char)*plate);
    if (isalnum((unsigned char)c)) latch_put_bytes(&text, &c, 1);
  }
  return text.bytes;
}

/* The answer for a plate that is on the roll. */
static void entered(const char *plate, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"plate\":");
  latch_put_string(&answer->result, plain(plate));
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "plate", .resource_id = key, .operation = "create", .version = plate });
}

static bool enter(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  if (!plate) return latch_fail(answer, LATCH_INVALID_INPUT, "the plate is missing");
  size_t len = strlen(plain(plate));
  if (len < 4 || len > 12) return latch_fail(answer, LATCH_INVALID_INPUT, "a plate has 4 to 12 letters and digits");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry_name(key), plain(plate))) return false;
  entered(plate, key, answer);
  return true;
}

/* Called after a crash: finds out whether the plate is on the roll. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, entry_name(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  entered(latch_json_string(latch_json_member(args, "plate")), key, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. Returns NULL if the plate is still on the roll. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, entry_name(change.resource_id), &found)) return NULL;
  if (!found) return "the plate is not on the roll";
  return strcmp(found, change.version) == 0 ? NULL : "the roll has another plate";
}

LATCH_PLUGIN({
  .name = "Plate.Enter",
  .description = "Enters the plate of a wagon in the roll.",
  .input = "{\"type\":\"object\",\"required\":[\"plate\"],\"properties\":{"
           "\"plate\":{\"type\":\"string\",\"maxLength\":40}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"plate\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = enter,
  .reconcile = find,
  .verify = check,
});
