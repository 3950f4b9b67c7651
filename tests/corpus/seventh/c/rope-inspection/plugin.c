#include "latchwork.h"

/* One entry for each inspection, under the key of its call. A second try writes the same entry again. */
static bool inspect(latch_json args, latch_answer *answer) {
  char *rope = latch_json_string(latch_json_member(args, "rope")), *grade = latch_json_string(latch_json_member(args, "grade"));
  if (!rope || !grade) return latch_fail(answer, LATCH_INVALID_INPUT, "rope or grade is missing");
  latch_invocation call = latch_get_invocation();

  latch_text entry = { 0 };
  latch_put(&entry, "{\"rope\":");
  latch_put_string(&entry, rope);
  latch_put(&entry, ",\"grade\":");
  latch_put_string(&entry, grade);
  latch_put(&entry, ",\"trace\":");
  latch_put_string(&entry, call.trace_id);
  latch_putf(&entry, ",\"by_attempt\":%u}", call.attempt);
  if (!latch_kv_set(answer, call.external_key, entry.bytes)) return false;

  latch_put(&answer->result, "{\"inspection\":");
  latch_put_string(&answer->result, call.external_key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "inspection", call.external_key, "create", .version = entry.bytes });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the inspection is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the inspection was changed";
}

LATCH_PLUGIN({
  .name = "Rope.Inspect",
  .description = "Records the inspection of a climbing rope.",
  .input = "{\"type\":\"object\",\"properties\":{\"rope\":{\"type\":\"string\",\"maxLength\":100},"
           "\"grade\":{\"enum\":[\"good\",\"worn\",\"retired\"]}},\"required\":[\"rope\",\"grade\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"inspection\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 604800,
  .handler = inspect,
  .verify = check,
});
