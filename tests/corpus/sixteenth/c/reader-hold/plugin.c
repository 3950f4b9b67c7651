/* Hold.Place and Hold.Check: holds of books for the readers of a library. */
#include "latchwork.h"

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "hold/%s", key);
  return name.bytes;
}

/* Writes the hold of the running call with its state. */
static bool write_hold(latch_json args, const char *state, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"state\":\"%s\",\"shelfmark\":", state);
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "shelfmark")));
  latch_put(&entry, ",\"reader\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "reader")));
  latch_put(&entry, "}");
  return latch_kv_set(answer, entry_name(key), entry.bytes);
}

static bool place(latch_json args, latch_answer *answer) {
  char *shelfmark = latch_json_string(latch_json_member(args, "shelfmark"));
  char *reader = latch_json_string(latch_json_member(args, "reader"));
  if (!shelfmark || !*shelfmark) return latch_fail(answer, LATCH_INVALID_INPUT, "the shelfmark is empty");
  if (!reader || !*reader) return latch_fail(answer, LATCH_INVALID_INPUT, "the reader is empty");
  if (!write_hold(args, "active", answer)) return false;

  char *key = latch_get_invocation().external_key;
  latch_put(&answer->result, "{\"hold\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "hold", .resource_id = key, .operation = "create" });
  return true;
}

/* Called when the job is cancelled or undone: the book goes back to the shelf. */
static bool release(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *entry;
  if (!latch_kv_get(answer, entry_name(key), &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_POLICY_DENIED, "the hold is not there any more");
  char *state = latch_json_string(latch_json_member(latch_json_of(entry), "state"));
  if (!state || strcmp(state, "active") != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the hold is not active any more");
  if (!write_hold(args, "released", answer)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "hold", .resource_id = key, .operation = "release" });
  return true;
}

static bool check(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "hold"));
  char *entry;
  if (!key || !*key) return latch_fail(answer, LATCH_INVALID_INPUT, "the key of the hold is empty");
  if (!latch_kv_get(answer, entry_name(key), &entry)) return false;
  latch_put(&answer->result, entry ? entry : "{\"state\":\"none\"}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Hold.Place",
    .description = "Holds a book for a reader.",
    .input = "{\"type\":\"object\",\"required\":[\"shelfmark\",\"reader\"],\"properties\":{"
             "\"shelfmark\":{\"type\":\"string\",\"maxLength\":80},\"reader\":{\"type\":\"string\",\"maxLength\":80}},"
             "\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"hold\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = place,
    .compensate = release },
  { .name = "Hold.Check",
    .description = "Reads the state of a hold.",
    .input = "{\"type\":\"object\",\"required\":[\"hold\"],\"properties\":{"
             "\"hold\":{\"type\":\"string\",\"maxLength\":128}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"state\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = check }
);
