#include "latchwork.h"

static bool record(latch_json args, latch_answer *answer) {
  char *flock = latch_json_string(latch_json_member(args, "flock"));
  int64_t ewes, lambs;
  if (!flock || !*flock || strlen(flock) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "flock must have 1 to 100 bytes");
  if (!latch_json_integer(latch_json_member(args, "ewes"), &ewes) || ewes < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "ewes is missing or negative");
  if (!latch_json_integer(latch_json_member(args, "lambs"), &lambs) || lambs < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "lambs is missing or negative");

  /* The trace id is the same in every try, so a repeated call finds its own entry. */
  latch_text entry = { 0 }, census = { 0 };
  latch_putf(&entry, "census/%s", latch_get_invocation().trace_id);
  latch_put(&census, "{\"flock\":");
  latch_put_string(&census, flock);
  latch_putf(&census, ",\"ewes\":%lld,\"lambs\":%lld}", (long long)ewes, (long long)lambs);
  if (!latch_kv_set(answer, entry.bytes, census.bytes)) return false;

  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, entry.bytes);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "census", .resource_id = entry.bytes, .operation = "create",
                                        .version = census.bytes });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the census is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the census has other numbers";
}

LATCH_PLUGIN({
  .name = "FlockCensus.Record",
  .description = "Records the census of a flock.",
  .input = "{\"type\":\"object\",\"properties\":{\"flock\":{\"type\":\"string\"},\"ewes\":{\"type\":\"integer\"},"
           "\"lambs\":{\"type\":\"integer\"}},\"required\":[\"flock\",\"ewes\",\"lambs\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\"}},\"required\":[\"entry\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = record,
  .verify = check,
});
