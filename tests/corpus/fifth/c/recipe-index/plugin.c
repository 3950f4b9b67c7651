/* Keeps a recipe and enters its title into the index, in which readers look a recipe up by its title. */
#include "latchwork.h"

static char *joined(const char *prefix, const char *name) {
  latch_text text = { 0 };
  latch_putf(&text, "%s%s", prefix, name);
  return text.bytes;
}

static void kept(const char *key, const char *title, const char *text, latch_answer *answer) {
  latch_put(&answer->result, "{\"recipe\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "recipe", joined("recipe/", key), "create", .version = text });
  latch_changed(answer, (latch_change){ "index", joined("title/", title), "update", .version = key });
}

static bool keep(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !*title || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "title or text is missing");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, joined("recipe/", key), text)) return false;
  latch_kv_set(answer, joined("title/", title), key);
  kept(key, title, text, answer);
  return true;
}

/* Called after a crash: the recipe and its place in the index both have to be there. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title")), *text, *entry;
  if (!title || !latch_kv_get(answer, joined("recipe/", key), &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  if (!latch_kv_get(answer, joined("title/", title), &entry)) return LATCH_UNKNOWN;
  if (!entry || strcmp(entry, key) != 0) return LATCH_UNKNOWN;
  kept(key, title, text, answer);
  return LATCH_HAPPENED;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another content";
}

LATCH_PLUGIN({
  .name = "Recipe.Keep",
  .description = "Keeps a recipe and enters its title into the index.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"text\":{\"type\":\"string\","
           "\"maxLength\":8000}},\"required\":[\"title\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"recipe\":{\"type\":\"string\"}},\"required\":[\"recipe\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = keep,
  .reconcile = find,
  .verify = check,
});
