#include "latchwork.h"

/* A poem has two entries: its text, and its title. A poem without a title does not exist for any reader. */
static char *text_key(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s#text", key);
  return name.bytes;
}

static bool stored(const char *key, const char *title, const char *text, latch_answer *answer) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "text", .resource_id = text_key(key), .operation = "create", .version = text });
  latch_changed(answer, (latch_change){ .resource_type = "poem", .resource_id = key, .operation = "create", .version = title });
  return true;
}

static bool store(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title")), *text = latch_json_string(latch_json_member(args, "text"));
  if (!title || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "title or text is missing");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, text_key(key), text)) return false;
  if (!latch_kv_set(answer, key, title)) return answer->applied_unknown = true, false;
  return stored(key, title, text, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title")), *text = latch_json_string(latch_json_member(args, "text"));
  char *found, *found_text;
  if (!title || !text || !latch_kv_get(answer, key, &found) || !latch_kv_get(answer, text_key(key), &found_text)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  if (!found_text || strcmp(found, title) != 0 || strcmp(found_text, text) != 0) return LATCH_UNKNOWN;
  stored(key, title, text, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return found ? "the entry is there again" : NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry was changed";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *title = latch_json_string(latch_json_member(args, "title")), *text = latch_json_string(latch_json_member(args, "text"));
  char *found, *found_text, *at = text_key(key);
  bool was_there;
  if (!latch_kv_get(answer, key, &found) || !latch_kv_get(answer, at, &found_text)) return false;
  if (!title || !text || !found || !found_text || strcmp(found, title) != 0 || strcmp(found_text, text) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the poem was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the poem was removed");
  if (!latch_kv_delete(answer, at, &was_there)) return answer->applied_unknown = true, false;
  if (!was_there) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the text was removed by another party");
    return answer->applied_unknown = true, false;
  }
  latch_put(&answer->result, "{\"withdrawn\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "poem", .resource_id = key, .operation = "delete" });
  latch_changed(answer, (latch_change){ .resource_type = "text", .resource_id = at, .operation = "delete" });
  return true;
}

static bool read_poem(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "id")), *title, *text = NULL;
  if (!id) return latch_fail(answer, LATCH_INVALID_INPUT, "id is missing");
  if (!latch_kv_get(answer, id, &title)) return false;
  if (title && !latch_kv_get(answer, text_key(id), &text)) return false;
  latch_put(&answer->result, "{\"poem\":");
  if (title && text) {
    latch_put(&answer->result, "{\"title\":");
    latch_put_string(&answer->result, title);
    latch_put(&answer->result, ",\"text\":");
    latch_put_string(&answer->result, text);
    latch_put(&answer->result, "}}");
  } else latch_put(&answer->result, "null}");
  return true;
}

LATCH_PLUGIN({
  .name = "Chapbook.Store",
  .description = "Stores a poem.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":100},\"text\":{\"type\":\"string\",\"maxLength\":2000}},"
           "\"required\":[\"title\",\"text\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"id\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = store,
  .reconcile = find,
  .verify = check,
  .compensate = withdraw,
}, {
  .name = "Chapbook.Read",
  .description = "Reads a stored poem.",
  .input = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\",\"maxLength\":200,\"pattern\":\"^[^#]*$\"}},\"required\":[\"id\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"poem\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = read_poem,
});
