/* Entry.File: files the entry of a boat for a regatta, until the entries close. */
#include "latchwork.h"

#include <time.h>

static const char *CLASSES[] = { "dinghy", "keelboat", "catamaran" };

static bool known_class(const char *name) {
  for (size_t i = 0; i < sizeof CLASSES / sizeof *CLASSES; i++)
    if (strcmp(CLASSES[i], name) == 0) return true;
  return false;
}

/* Records the entry in the answer, with its sheet. */
static bool filed(const char *key, const char *sheet, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "entry", .resource_id = key, .operation = "create",
                                        .version = sheet });
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"sheet\":");
  latch_put_string(&answer->result, sheet);
  latch_put(&answer->result, "}");
  return true;
}

static bool file(latch_json args, latch_answer *answer) {
  char *boat = latch_json_string(latch_json_member(args, "boat"));
  char *skipper = latch_json_string(latch_json_member(args, "skipper"));
  char *class = latch_json_string(latch_json_member(args, "class"));
  int64_t closes;
  if (!boat || !skipper || !*boat || !*skipper)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the boat or the skipper has no name");
  if (!class || !known_class(class))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the class has to be dinghy, keelboat or catamaran");
  if (!latch_json_integer(latch_json_member(args, "closes_at"), &closes))
    return latch_fail(answer, LATCH_INVALID_INPUT, "closes_at has to be a time in seconds since 1970");
  if ((int64_t)time(NULL) > closes) return latch_fail(answer, LATCH_POLICY_DENIED, "the entries are closed");

  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  if (found) return filed(key, found, answer);
  latch_text sheet = { 0 };
  latch_putf(&sheet, "%s: %s, %s", class, boat, skipper);
  if (!latch_kv_set(answer, key, sheet.bytes)) return false;
  latch_log(LATCH_INFO, "%s entered", boat);
  return filed(key, sheet.bytes, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry was withdrawn";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another sheet";
}

LATCH_PLUGIN({
  .name = "Entry.File",
  .description = "Files the entry of a boat for a regatta, until the entries close.",
  .input = "{\"type\":\"object\",\"required\":[\"boat\",\"skipper\",\"class\",\"closes_at\"],\"properties\":{"
           "\"boat\":{\"type\":\"string\",\"maxLength\":80},\"skipper\":{\"type\":\"string\",\"maxLength\":80},"
           "\"class\":{\"type\":\"string\"},\"closes_at\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\",\"sheet\"],\"properties\":{\"entry\":{\"type\":\"string\"},"
            "\"sheet\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 604800,
  .handler = file,
  .verify = check,
});
