/* Puts the members of a crew on the roster of a voyage: one entry of the map for each member. */
#include "latchwork.h"

static bool enter(latch_json args, latch_answer *answer) {
  char *voyage = latch_json_string(latch_json_member(args, "voyage"));
  latch_json crew = latch_json_member(args, "crew");
  size_t count = latch_json_count(crew);
  if (!voyage || count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "voyage or crew is missing");
  for (size_t i = 0; i < count; i++)
    if (!latch_json_string(latch_json_item(crew, i)))
      return latch_fail(answer, LATCH_INVALID_INPUT, "member %zu has no name", i);
  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    latch_text entry = { 0 }, value = { 0 };
    latch_putf(&entry, "roster/%s/%zu", key, i);
    latch_putf(&value, "%s: %s", voyage, latch_json_string(latch_json_item(crew, i)));
    if (!latch_kv_set(answer, entry.bytes, value.bytes)) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ "roster", entry.bytes, "create", .version = value.bytes });
  }
  latch_putf(&answer->result, "{\"entered\":%zu}", count);
  return true;
}

/* Called when a job is resumed. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the entry is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the entry has another text";
}

LATCH_PLUGIN({
  .name = "Crew.Enter",
  .description = "Puts the members of a crew on the roster of a voyage.",
  .input = "{\"type\":\"object\",\"properties\":{\"voyage\":{\"type\":\"string\",\"maxLength\":40},\"crew\":"
           "{\"type\":\"array\",\"maxItems\":40,\"items\":{\"type\":\"string\",\"maxLength\":80}}},"
           "\"required\":[\"voyage\",\"crew\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entered\":{\"type\":\"integer\"}},\"required\":[\"entered\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = enter,
  .verify = check,
});
