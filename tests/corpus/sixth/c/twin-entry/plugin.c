/* Posts an entry with a long text. The text is written first, under a name that no other operator reads. The second
 * write makes the entry visible. An undone entry stays in the map and is marked. */
#include "latchwork.h"

static char *name_of(const char *kind, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, key);
  return name.bytes;
}

static bool post(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !*title || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "title or text is missing");
  char *key = latch_get_invocation().external_key, *entry = name_of("entry", key);
  if (!latch_kv_set(answer, name_of("text", key), text)) return false;
  if (!latch_kv_set(answer, entry, title)) {
    answer->applied_unknown = true;
    return false;
  }
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, entry);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "entry", entry, "create", .version = title });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another title";
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *entry = name_of("entry", key), *text = name_of("text", key), *found;
  bool was_there;
  if (!latch_kv_get(answer, entry, &found)) return answer->applied_unknown = false;
  bool undone = found && strcmp(found, "") == 0;
  if (!undone) {
    if (!found || !title || strcmp(found, title) != 0)
      return latch_fail(answer, LATCH_POLICY_DENIED, "the entry was changed or removed");
    /* An entry without a title is undone. */
    if (!latch_kv_set(answer, entry, "")) return false;
  }
  if (!latch_kv_delete(answer, text, &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  latch_put(&answer->result, "null");
  latch_changed(answer, (latch_change){ "entry", entry, "delete", .version = "" });
  return true;
}

LATCH_PLUGIN({
  .name = "Entry.Post",
  .description = "Posts an entry with a text.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":200},"
           "\"text\":{\"type\":\"string\"}},\"required\":[\"title\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\"}},\"required\":[\"entry\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = post,
  .verify = check,
  .compensate = take_back,
});
