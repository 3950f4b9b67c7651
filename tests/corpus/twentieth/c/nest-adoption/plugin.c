/* Nest.Adopt and Nest.End: sponsors adopt nesting boxes of a bird reserve. The end of an adoption is a mark of its own,
 * so the adoption stays in the register. */
#include "latchwork.h"

static char *mark_of(const char *adoption) {
  latch_text name = { 0 };
  latch_putf(&name, "ended/%s", adoption);
  return name.bytes;
}

/* The entry of an adoption. Its text follows from the arguments. */
static char *adoption_text(latch_json args) {
  latch_text text = { 0 };
  latch_put(&text, "{\"nest\":");
  latch_put_string(&text, latch_json_string(latch_json_member(args, "nest")));
  latch_put(&text, ",\"sponsor\":");
  latch_put_string(&text, latch_json_string(latch_json_member(args, "sponsor")));
  latch_put(&text, "}");
  return text.bytes;
}

static void adopted(latch_json args, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"adoption\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "adoption", .resource_id = key, .operation = "create", .version = adoption_text(args) });
}

static void ended(const char *adoption, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"ended\":");
  latch_put_string(&answer->result, adoption);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "mark", .resource_id = mark_of(adoption), .operation = "create", .version = key });
}

static bool adopt(latch_json args, latch_answer *answer) {
  char *nest = latch_json_string(latch_json_member(args, "nest"));
  char *sponsor = latch_json_string(latch_json_member(args, "sponsor"));
  if (!nest || !*nest || !sponsor || !*sponsor)
    return latch_fail(answer, LATCH_INVALID_INPUT, "an adoption needs a nest and a sponsor");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key, adoption_text(args))) return false;
  adopted(args, key, answer);
  return true;
}

static bool end(latch_json args, latch_answer *answer) {
  char *adoption = latch_json_string(latch_json_member(args, "adoption")), *text;
  if (!adoption || !*adoption) return latch_fail(answer, LATCH_INVALID_INPUT, "the adoption is missing");
  if (!latch_kv_get(answer, adoption, &text)) return false;
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no adoption %s", adoption);
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, mark_of(adoption), key)) return false;
  ended(adoption, key, answer);
  return true;
}

/* Called after a crash: finds out whether the adoption is in the register. */
static latch_verdict find_adoption(latch_json args, const char *key, latch_answer *answer) {
  char *text;
  if (!latch_kv_get(answer, key, &text)) return LATCH_UNKNOWN;
  if (!text) return LATCH_DID_NOT_HAPPEN;
  adopted(args, key, answer);
  return LATCH_HAPPENED;
}

/* Called after a crash: finds out whether this call has written the mark. */
static latch_verdict find_end(latch_json args, const char *key, latch_answer *answer) {
  char *adoption = latch_json_string(latch_json_member(args, "adoption")), *by;
  if (!latch_kv_get(answer, mark_of(adoption), &by)) return LATCH_UNKNOWN;
  if (!by) return LATCH_DID_NOT_HAPPEN;
  if (strcmp(by, key) != 0) return LATCH_UNKNOWN;
  ended(adoption, key, answer);
  return LATCH_HAPPENED;
}

/* Both entries have the recorded version as their text. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another text";
}

LATCH_PLUGIN({
  .name = "Nest.Adopt",
  .description = "Records that a sponsor adopts a nest.",
  .input = "{\"type\":\"object\",\"properties\":{\"nest\":{\"type\":\"string\",\"maxLength\":40},"
           "\"sponsor\":{\"type\":\"string\",\"maxLength\":120}},"
           "\"required\":[\"nest\",\"sponsor\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"adoption\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = adopt,
  .reconcile = find_adoption,
  .verify = check,
}, {
  .name = "Nest.End",
  .description = "Records the end of an adoption.",
  .input = "{\"type\":\"object\",\"properties\":{\"adoption\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"adoption\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ended\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = end,
  .reconcile = find_end,
  .verify = check,
});
