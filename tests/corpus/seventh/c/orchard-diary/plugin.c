#include "latchwork.h"

/* Removes white space at both ends, in place. */
static char *trim(char *text) {
  text += strspn(text, " \t\r\n");
  size_t len = strlen(text);
  while (len && strchr(" \t\r\n", text[len - 1])) len--;
  text[len] = 0;
  return text;
}

static bool kept(const char *key, const char *tree, const char *remark, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"tree\":");
  latch_put_string(&answer->result, tree);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "remark", key, "create", .version = remark });
  return true;
}

static bool remark(latch_json args, latch_answer *answer) {
  char *tree = latch_json_string(latch_json_member(args, "tree")), *text = latch_json_string(latch_json_member(args, "remark"));
  if (!tree || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "tree or remark is missing");
  text = trim(text);
  if (!*text) return latch_fail(answer, LATCH_INVALID_INPUT, "the remark is empty");
  char *key = latch_get_invocation().external_key;
  return latch_kv_set(answer, key, text) && kept(key, tree, text, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  kept(key, latch_json_string(latch_json_member(args, "tree")), latch_json_string(latch_json_member(args, "remark")), answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the remark is gone";
  return strcmp(found, change.version) == 0 ? NULL : "the remark has another text";
}

LATCH_PLUGIN({
  .name = "Orchard.Remark",
  .description = "Keeps a remark about a tree.",
  .input = "{\"type\":\"object\",\"properties\":{\"tree\":{\"type\":\"string\"},\"remark\":{\"type\":\"string\",\"maxLength\":4000}},"
           "\"required\":[\"tree\",\"remark\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"tree\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = remark,
  .reconcile = find,
  .verify = check,
});
