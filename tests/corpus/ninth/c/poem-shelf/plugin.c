#include "latchwork.h"

/* A shelf of poems. A poem has two entries, text/KEY and title/KEY. The title is written last: without it Poem.Read
   does not find the poem. KEY is the key of the call that published the poem. */

static char *entry_of(const char *part, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", part, key);
  return name.bytes;
}

static char *fingerprint(const char *title, const char *text) {
  uint64_t hash = 14695981039346656037u;
  for (const char *c = title; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  hash *= 1099511628211u;
  for (const char *c = text; *c; c++) hash = (hash ^ (unsigned char)*c) * 1099511628211u;
  latch_text hex = { 0 };
  latch_putf(&hex, "%016llx", (unsigned long long)hash);
  return hex.bytes;
}

/* Without a title there is no poem, and no text is read. */
static bool get_both(latch_answer *answer, const char *key, char **title, char **text) {
  *text = NULL;
  if (!latch_kv_get(answer, entry_of("title", key), title)) return false;
  return !*title || latch_kv_get(answer, entry_of("text", key), text);
}

static void published(latch_json args, const char *key, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  latch_put(&answer->result, "{\"poem\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "poem", key, "create", .version = fingerprint(title, text) });
}

static bool publish(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !*title || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "a poem has a title and a text");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry_of("text", key), text)) return false;
  if (!latch_kv_set(answer, entry_of("title", key), title)) {
    answer->applied_unknown = true;
    return false;
  }
  published(args, key, answer);
  return true;
}

static latch_verdict ask(latch_json args, const char *key, latch_answer *answer) {
  char *title;
  if (!latch_kv_get(answer, entry_of("title", key), &title)) return LATCH_UNKNOWN;
  if (!title) return LATCH_DID_NOT_HAPPEN; /* at most a text that Poem.Read does not find */
  published(args, key, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *title, *text;
  if (!get_both(answer, change.resource_id, &title, &text)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return title ? "the poem is still there" : NULL;
  if (!title || !text) return "the poem is not complete";
  return change.version && strcmp(fingerprint(title, text), change.version) == 0 ? NULL : "the poem was changed";
}

static bool take_down(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *title, *text;
  bool was_there, had_text;
  if (!get_both(answer, key, &title, &text)) return false;
  if (!title || strcmp(title, latch_json_string(latch_json_member(args, "title"))) != 0 ||
      !text || strcmp(text, latch_json_string(latch_json_member(args, "text"))) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the poem was changed or removed");
  if (!latch_kv_delete(answer, entry_of("title", key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the poem was removed");
  bool deleted = latch_kv_delete(answer, entry_of("text", key), &had_text);
  if (deleted && !had_text) latch_fail(answer, LATCH_POLICY_DENIED, "the text was removed");
  if (!deleted || !had_text) {
    answer->applied_unknown = true; /* the title was deleted already */
    return false;
  }
  latch_put(&answer->result, "{\"removed\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "poem", .resource_id = key, .operation = "delete" });
  return true;
}

static bool read_poem(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "poem")), *title, *text;
  if (!key) return latch_fail(answer, LATCH_INVALID_INPUT, "the poem is missing");
  if (!get_both(answer, key, &title, &text)) return false;
  if (!title || !text) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no such poem");
  latch_put(&answer->result, "{\"title\":");
  latch_put_string(&answer->result, title);
  latch_put(&answer->result, ",\"text\":");
  latch_put_string(&answer->result, text);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Poem.Publish",
  .description = "Publishes a poem on the shelf.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"
           "\"text\":{\"type\":\"string\",\"maxLength\":10000}},\"required\":[\"title\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"poem\":{\"type\":\"string\"}},\"required\":[\"poem\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = publish,
  .reconcile = ask,
  .verify = check,
  .compensate = take_down,
}, {
  .name = "Poem.Read",
  .description = "Reads a poem of the shelf.",
  .input = "{\"type\":\"object\",\"properties\":{\"poem\":{\"type\":\"string\",\"maxLength\":200}},"
           "\"required\":[\"poem\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}},"
            "\"required\":[\"title\",\"text\"]}",
  .handler = read_poem,
});
