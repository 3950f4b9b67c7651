#include "latchwork.h"

#include <time.h>

static char *entry(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "label:%s", key);
  return name.bytes;
}

static bool labelled(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "label", .resource_id = key, .operation = "create" });
  return true;
}

static bool label(latch_json args, latch_answer *answer) {
  char *shelf = latch_json_string(latch_json_member(args, "shelf"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!shelf || !text || strlen(shelf) + strlen(text) > 2000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "shelf and text: two texts of together at most 2000 bytes");
  char *key = latch_get_invocation().external_key, *name = entry(key), *stored;
  if (!latch_kv_get(answer, name, &stored)) return false;
  /* A repeated call finds its label and keeps it with the time of the first try. */
  if (stored) return labelled(key, answer);
  latch_text value = { 0 };
  latch_putf(&value, "%lld %s %s", (long long)time(NULL), shelf, text);
  return latch_kv_set(answer, name, value.bytes) && labelled(key, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *stored;
  if (!latch_kv_get(answer, entry(key), &stored)) return LATCH_UNKNOWN;
  if (!stored) return LATCH_DID_NOT_HAPPEN;
  labelled(key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Shelf.Label",
  .description = "Puts a label on a shelf.",
  .input = "{\"type\":\"object\",\"properties\":{\"shelf\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}},"
           "\"required\":[\"shelf\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"}},\"required\":[\"id\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = label,
  .reconcile = find,
});
