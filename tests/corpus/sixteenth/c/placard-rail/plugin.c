/* Placard.Hang: hangs a placard on the notice rail of a station. */
#include "latchwork.h"

/* Rail of stations whose configuration names none. */
static const char *USUAL_RAIL = "entrance";

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "placard/%s", key);
  return name.bytes;
}

/* The entry of a placard: its title and its lines. */
static char *entry_of(latch_json args) {
  latch_text entry = { 0 };
  latch_put(&entry, "{\"title\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "title")));
  latch_put(&entry, ",\"text\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "text")));
  latch_put(&entry, "}");
  return entry.bytes;
}

/* Answers with the key of the placard and the rail on which the staff looks for it. */
static bool hung(const char *key, latch_answer *answer) {
  const char *rail = USUAL_RAIL;
  char *set = latch_config("rail");
  if (set) {
    rail = latch_json_string(latch_json_of(set));
    if (!rail) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "config.rail is %s, which is no text", set);
  }
  latch_put(&answer->result, "{\"placard\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"rail\":");
  latch_put_string(&answer->result, rail);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "placard", .resource_id = key, .operation = "create" });
  return true;
}

static bool hang(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !*title) return latch_fail(answer, LATCH_INVALID_INPUT, "the placard has no title");
  if (!text || !*text) return latch_fail(answer, LATCH_INVALID_INPUT, "the placard has no text");
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, entry_name(key), entry_of(args)) && hung(key, answer);
}

/* Called when the job is cancelled or undone. */
static bool take_down(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, entry_name(key), &found)) return false;
  if (!found || strcmp(found, entry_of(args)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the placard was changed or taken down");
  if (!latch_kv_delete(answer, entry_name(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the placard was taken down");
  latch_changed(answer, (latch_change){ .resource_type = "placard", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Placard.Hang",
  .description = "Hangs a placard on the notice rail.",
  .input = "{\"type\":\"object\",\"required\":[\"title\",\"text\"],\"properties\":{"
           "\"title\":{\"type\":\"string\",\"maxLength\":120},\"text\":{\"type\":\"string\",\"maxLength\":4000}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"placard\",\"rail\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = hang,
  .compensate = take_down,
});
