/* Watch.Enter: enters a remark in the log of a harbour watch. */
#include "latchwork.h"

#include <ctype.h>
#include <time.h>

enum { WEEK = 7 * 24 * 60 * 60 };

/* Name of an entry: a prefix, and a key of up to 128 characters. */
typedef struct {
  char text[160];
} entry_name;

static entry_name named(const char *key) {
  entry_name name;
  snprintf(name.text, sizeof name.text, "watch/%s", key);
  return name;
}

/* Returns the remark without spaces at its ends. */
static char *trimmed(const char *remark) {
  while (isspace((unsigned char)*remark)) remark++;
  latch_text text = { 0 };
  latch_put(&text, remark);
  while (text.len && isspace((unsigned char)text.bytes[text.len - 1])) text.bytes[--text.len] = 0;
  return text.bytes;
}

static char *entry_of(const char *at, const char *remark) {
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"at\":\"%s\",\"remark\":", at);
  latch_put_string(&entry, remark);
  latch_put(&entry, "}");
  return entry.bytes;
}

static const char *part(const char *entry, const char *name) {
  return latch_json_string(latch_json_member(latch_json_of(entry), name));
}

/* Answers with what the log has. */
static bool entered(const char *entry, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"at\":\"%s\"}", part(entry, "at"));
  latch_changed(answer, (latch_change){
    .resource_type = "entry", .resource_id = key, .operation = "create", .version = part(entry, "remark") });
  return true;
}

static bool enter(latch_json args, latch_answer *answer) {
  char *given = latch_json_string(latch_json_member(args, "remark")), *found;
  if (!given) return latch_fail(answer, LATCH_INVALID_INPUT, "the remark is missing");
  char *remark = trimmed(given);
  if (!*remark) return latch_fail(answer, LATCH_INVALID_INPUT, "the remark is empty");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_get(answer, named(key).text, &found)) return false;
  if (found) return entered(found, key, answer);

  char at[32];
  time_t now = time(NULL);
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  char *entry = entry_of(at, remark);
  return latch_kv_set(answer, named(key).text, entry) && entered(entry, key, answer);
}

/* Called if the call can no longer be repeated: finds out whether the remark is in the log. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, named(key).text, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  entered(found, key, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. Returns NULL if the remark is still in the log. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, named(change.resource_id).text, &found)) return NULL;
  if (!found) return "the remark is not in the log";
  return strcmp(part(found, "remark"), change.version) == 0 ? NULL : "the log has another remark";
}

LATCH_PLUGIN({
  .name = "Watch.Enter",
  .description = "Enters a remark in the log of the watch.",
  .input = "{\"type\":\"object\",\"required\":[\"remark\"],\"properties\":{"
           "\"remark\":{\"type\":\"string\",\"maxLength\":2000}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = WEEK,
  .handler = enter,
  .reconcile = find,
  .verify = check,
});
