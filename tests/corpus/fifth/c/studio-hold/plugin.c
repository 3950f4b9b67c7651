/* Holds a studio for a band. The hold is an entry of the map under the key of its call, and can be released again. */
#include "latchwork.h"

static char *entry_of(const char *key) {
  latch_text entry = { 0 };
  latch_putf(&entry, "hold/%s", key);
  return entry.bytes;
}

static bool held(const char *key, const char *text, latch_answer *answer) {
  latch_put(&answer->result, "{\"hold\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "hold", entry_of(key), "create", .version = text });
  return true;
}

static bool hold(latch_json args, latch_answer *answer) {
  char *studio = latch_json_string(latch_json_member(args, "studio"));
  char *band = latch_json_string(latch_json_member(args, "band"));
  if (!studio || !band) return latch_fail(answer, LATCH_INVALID_INPUT, "studio or band is missing");
  char *key = latch_get_invocation().external_key;
  latch_text text = { 0 };
  latch_putf(&text, "%s for %s", studio, band);
  return latch_kv_set(answer, entry_of(key), text.bytes) && held(key, text.bytes, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *text;
  if (!latch_kv_get(answer, entry_of(key), &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  held(key, text, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *text;
  if (!latch_kv_get(answer, change.resource_id, &text)) return NULL;
  if (!text) return "the hold is missing";
  return change.version && strcmp(text, change.version) == 0 ? NULL : "the hold is for another studio or band";
}

/* Called when the job is cancelled or undone. */
static bool release(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result, (void)key;
  char *entry = entry_of(latch_get_invocation().external_key);
  bool was_there;
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  latch_log(LATCH_INFO, "%s %s", entry, was_there ? "is released" : "was not held");
  latch_put(&answer->result, "null");
  latch_changed(answer, (latch_change){ "hold", entry, "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Studio.Hold",
  .description = "Holds a studio for a band.",
  .input = "{\"type\":\"object\",\"properties\":{\"studio\":{\"type\":\"string\",\"maxLength\":40},\"band\":"
           "{\"type\":\"string\",\"maxLength\":80}},\"required\":[\"studio\",\"band\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"hold\":{\"type\":\"string\"}},\"required\":[\"hold\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = hold,
  .reconcile = find,
  .verify = check,
  .compensate = release,
});
