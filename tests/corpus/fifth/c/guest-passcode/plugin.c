/* Draws the passcode of a guest and keeps it under the key of the call. A repetition of the call finds the entry and
 * returns its code. */
#include "latchwork.h"

#include <unistd.h>

static char *entry_of(const char *key) {
  latch_text entry = { 0 };
  latch_putf(&entry, "passcode/%s", key);
  return entry.bytes;
}

/* An entry is the code of eight digits, a blank, and the name of the guest. */
static char *code_of(const char *entry) {
  latch_text code = { 0 };
  if (strlen(entry) < 9 || strspn(entry, "0123456789") != 8 || entry[8] != ' ') return NULL;
  latch_put_bytes(&code, entry, 8);
  return code.bytes;
}

static bool given(const char *key, const char *entry, latch_answer *answer) {
  latch_put(&answer->result, "{\"code\":");
  latch_put_string(&answer->result, code_of(entry));
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "passcode", entry_of(key), "create", .version = entry });
  return true;
}

static bool draw(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "guest is missing");
  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, entry_of(key), &found)) return false;
  if (!found) {
    uint32_t number;
    if (getentropy(&number, sizeof number) != 0) {
      latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no random numbers");
      answer->applied_unknown = false;
      return false;
    }
    latch_text entry = { 0 };
    latch_putf(&entry, "%08u %s", (unsigned)(number % 100000000), guest);
    found = entry.bytes;
    if (!latch_kv_set(answer, entry_of(key), found)) return false;
  }
  if (!code_of(found)) {
    latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the entry of the guest is damaged");
    return false;
  }
  return given(key, found, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, entry_of(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  if (!code_of(found)) return LATCH_UNKNOWN;
  given(key, found, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the passcode is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the passcode is another one";
}

/* Called when the job is cancelled or undone. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  char *code = latch_json_string(latch_json_member(result, "code")), *found;
  bool was_there;
  if (!guest || !code) return latch_fail(answer, LATCH_INVALID_INPUT, "guest or code is missing");
  if (!latch_kv_get(answer, entry_of(key), &found)) {
    answer->applied_unknown = false;
    return false;
  }
  latch_text written = { 0 };
  latch_putf(&written, "%s %s", code, guest);
  if (!found || strcmp(found, written.bytes) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the passcode was changed or removed");
  if (!latch_kv_delete(answer, entry_of(key), &was_there)) return false;
  latch_put(&answer->result, "null");
  latch_changed(answer, (latch_change){ "passcode", entry_of(key), "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Passcode.Draw",
  .description = "Draws the passcode of a guest.",
  .input = "{\"type\":\"object\",\"properties\":{\"guest\":{\"type\":\"string\",\"maxLength\":80}},"
           "\"required\":[\"guest\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"}},\"required\":[\"code\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 30 * 86400,
  .handler = draw,
  .reconcile = find,
  .verify = check,
  .compensate = withdraw,
});
