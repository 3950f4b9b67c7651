#include "latchwork.h"

#include <time.h>

static bool kept(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"key\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = key, .operation = "create" });
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "text is missing");
  char *key = latch_get_invocation().external_key;
  latch_text note = { 0 };
  latch_putf(&note, "%lld %s", (long long)time(NULL), text);
  return latch_kv_set(answer, key, note.bytes) && kept(key, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *note;
  if (!latch_kv_get(answer, key, &note)) return LATCH_UNKNOWN;
  if (!note) return LATCH_DID_NOT_HAPPEN;
  kept(key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "{{Noun}}.Keep",
  .description = "Keeps a note under the key of its call.",
  .input = "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
           "\"required\":[\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"key\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = keep,
  .reconcile = find,
});
