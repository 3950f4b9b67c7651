#include "latchwork.h"

#include <time.h>

/* Log of the firings of a pottery. The time of an entry is the time at which it was first written. */
static const char *line(latch_json args, int64_t at) {
  latch_text text = { 0 };
  latch_putf(&text, "{\"at\":%lld,\"firing\":%s}", (long long)at, latch_json_text(args));
  return text.bytes;
}

/* A short mark of the text of an entry. */
static const char *mark(const char *text) {
  uint64_t sum = 14695981039346656037u;
  for (; *text; text++) sum = (sum ^ (unsigned char)*text) * 1099511628211u;
  latch_text made = { 0 };
  latch_putf(&made, "%016llx", (unsigned long long)sum);
  return made.bytes;
}

static void recorded(const char *key, const char *text, latch_answer *answer) {
  int64_t at = 0;
  latch_json_integer(latch_json_member(latch_json_of(text), "at"), &at);
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"at\":%lld}", (long long)at);
  latch_changed(answer, (latch_change){ .resource_type = "firing", .resource_id = key, .operation = "create", .version = mark(text) });
}

static bool record(latch_json args, latch_answer *answer) {
  if (!latch_json_string(latch_json_member(args, "note"))) return latch_fail(answer, LATCH_INVALID_INPUT, "the note is no text");
  const char *key = latch_get_invocation().external_key;
  char *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  const char *text = found;
  if (!text) {
    text = line(args, (int64_t)time(NULL));
    if (!latch_kv_set(answer, key, text)) return false;
  }
  recorded(key, text, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  recorded(key, found, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the log has no such entry";
  return change.version && strcmp(mark(found), change.version) == 0 ? NULL : "the entry has another text";
}

static bool strike(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  int64_t at = 0;
  latch_json_integer(latch_json_member(result, "at"), &at);
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, key, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || strcmp(found, line(args, at)) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the entry was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the entry was removed");
  latch_changed(answer, (latch_change){ .resource_type = "firing", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Kiln.Record",
  .description = "Records a firing in the log of the pottery.",
  .input = "{\"type\":\"object\",\"properties\":{\"kiln\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
           "\"degrees\":{\"type\":\"integer\",\"minimum\":400,\"maximum\":1500},\"note\":{\"type\":\"string\",\"maxLength\":3000}},"
           "\"required\":[\"kiln\",\"degrees\",\"note\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 24 * 3600,
  .handler = record,
  .reconcile = find,
  .verify = check,
  .compensate = strike,
});
