/* Summons.File and Summons.Read: a folder of summonses to hearings. */
#include "latchwork.h"

/* Name of an entry of the folder. */
typedef struct {
  char text[64];
} entry_name;

static entry_name named(const char *key) {
  entry_name name;
  snprintf(name.text, sizeof name.text, "summons/%s", key);
  return name;
}

/* The answer for a summons that is in the folder. */
static void filed(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"summons\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "summons", .resource_id = key, .operation = "create" });
}

static bool file(latch_json args, latch_answer *answer) {
  char *person = latch_json_string(latch_json_member(args, "person"));
  char *hearing = latch_json_string(latch_json_member(args, "hearing"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  if (!person || !*person) return latch_fail(answer, LATCH_INVALID_INPUT, "the person has no name");
  if (!hearing || !text) return latch_fail(answer, LATCH_INVALID_INPUT, "the hearing or the text is missing");

  latch_text entry = { 0 };
  latch_put(&entry, "{\"person\":");
  latch_put_string(&entry, person);
  latch_put(&entry, ",\"hearing\":");
  latch_put_string(&entry, hearing);
  latch_put(&entry, ",\"text\":");
  latch_put_string(&entry, text);
  latch_put(&entry, "}");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, named(key).text, entry.bytes)) return false;
  filed(key, answer);
  return true;
}

/* Called after a crash: finds out whether the summons is in the folder. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *entry;
  if (!latch_kv_get(answer, named(key).text, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  filed(key, answer);
  return LATCH_HAPPENED;
}

static bool read_summons(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "summons"));
  char *entry;
  if (!key || !*key) return latch_fail(answer, LATCH_INVALID_INPUT, "the key of the summons is empty");
  if (!latch_kv_get(answer, named(key).text, &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no summons %s", key);
  latch_put(&answer->result, entry);
  return true;
}

LATCH_PLUGIN(
  { .name = "Summons.File",
    .description = "Files a summons to a hearing.",
    .input = "{\"type\":\"object\",\"required\":[\"person\",\"hearing\",\"text\"],\"properties\":{"
             "\"person\":{\"type\":\"string\",\"maxLength\":200},\"hearing\":{\"type\":\"string\",\"maxLength\":200},"
             "\"text\":{\"type\":\"string\",\"maxLength\":5000}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"summons\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = file,
    .reconcile = find },
  { .name = "Summons.Read",
    .description = "Reads a summons.",
    .input = "{\"type\":\"object\",\"required\":[\"summons\"],\"properties\":{"
             "\"summons\":{\"type\":\"string\",\"maxLength\":128}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"person\",\"hearing\",\"text\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = read_summons }
);
