/* The key cabinet of a school. Each issue of a key has an entry of its own, and a taken back issue has a void entry. */
#include "latchwork.h"

static char *name_of(const char *kind, const char *issue) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, issue);
  return name.bytes;
}

/* Writes an entry of the issue that is being handled. */
static bool write_entry(const char *kind, const char *text, latch_answer *answer) {
  return latch_kv_set(answer, name_of(kind, latch_get_invocation().external_key), text);
}

static char *line_of(latch_json args) {
  char *key = latch_json_string(latch_json_member(args, "key"));
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  if (!key || !holder || strspn(holder, " ") == strlen(holder)) return NULL;
  latch_text line = { 0 };
  latch_putf(&line, "%s %s", key, holder);
  return line.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *line = line_of(args);
  if (!line) return latch_fail(answer, LATCH_INVALID_INPUT, "the key or its holder is missing");
  if (!write_entry("issue", line, answer)) return false;
  char *id = latch_get_invocation().external_key;
  latch_changed(answer, (latch_change){ .resource_type = "issue", .resource_id = id, .operation = "create", .version = line });
  latch_put(&answer->result, "{\"issue\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *line, *voided;
  if (!latch_kv_get(answer, name_of("issue", change.resource_id), &line)) return NULL;
  if (!latch_kv_get(answer, name_of("void", change.resource_id), &voided)) return NULL;
  if (!line) return "the issue is not in the cabinet book";
  if (voided) return "the issue is void";
  return change.version && strcmp(line, change.version) == 0 ? NULL : "the issue names another key or holder";
}

/* The book keeps every line, so an issue is not deleted but marked as void. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *expected = line_of(args), *line, *voided;
  if (!latch_kv_get(answer, name_of("issue", key), &line) || !latch_kv_get(answer, name_of("void", key), &voided)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!line || !expected || strcmp(line, expected) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the issue was changed or removed");
  if (voided) return latch_fail(answer, LATCH_POLICY_DENIED, "the issue is void already");
  if (!write_entry("void", line, answer)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "issue", .resource_id = key, .operation = "void" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *id = latch_json_string(latch_json_member(args, "issue")), *line, *voided;
  if (!id) return latch_fail(answer, LATCH_INVALID_INPUT, "the issue is missing");
  if (!latch_kv_get(answer, name_of("issue", id), &line) || !latch_kv_get(answer, name_of("void", id), &voided)) return false;
  latch_put(&answer->result, "{\"line\":");
  if (line) latch_put_string(&answer->result, line);
  else latch_put(&answer->result, "null");
  latch_putf(&answer->result, ",\"out\":%s}", line && !voided ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Cabinet.Issue",
  .description = "Records that a key was handed to a person.",
  .input = "{\"type\":\"object\",\"required\":[\"key\",\"holder\"],\"additionalProperties\":false,\"properties\":{"
           "\"key\":{\"type\":\"string\",\"pattern\":\"^[A-Z][0-9]{1,4}$\"},\"holder\":{\"type\":\"string\",\"maxLength\":80}}}",
  .output = "{\"type\":\"object\",\"required\":[\"issue\"],\"properties\":{\"issue\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = issue,
  .verify = check,
  .compensate = take_back,
}, {
  .name = "Cabinet.Show",
  .description = "Shows an issue, and whether the key is still out.",
  .input = "{\"type\":\"object\",\"required\":[\"issue\"],\"additionalProperties\":false,\"properties\":{"
           "\"issue\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"line\",\"out\"],\"properties\":{\"line\":{\"type\":[\"string\",\"null\"]},\"out\":{\"type\":\"boolean\"}}}",
  .handler = show,
});
