#include "latchwork.h"

static bool schedule(latch_json args, latch_answer *answer) {
  char *street = latch_json_string(latch_json_member(args, "street"));
  int64_t percent;
  if (!street || !*street) return latch_fail(answer, LATCH_INVALID_INPUT, "street is missing");
  if (!latch_json_integer(latch_json_member(args, "percent"), &percent) || percent < 0 || percent > 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "percent is 0 to 100");
  char *key = latch_get_invocation().external_key;
  latch_text name = { 0 }, value = { 0 };
  latch_putf(&name, "setting/%s", key);
  latch_putf(&value, "%lld %s", (long long)percent, street);
  if (!latch_kv_set(answer, name.bytes, value.bytes)) return false;
  latch_changed(answer, (latch_change){ "setting", name.bytes, "create", .version = value.bytes });
  latch_put(&answer->result, "{\"setting\":");
  latch_put_string(&answer->result, name.bytes);
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the setting is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the setting was changed";
}

LATCH_PLUGIN({
  .name = "LampSetting.Schedule",
  .description = "Schedules the brightness of the lamps of a street.",
  .input = "{\"type\":\"object\",\"properties\":{\"street\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":200},"
           "\"percent\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100}},"
           "\"required\":[\"street\",\"percent\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"setting\":{\"type\":\"string\"}},\"required\":[\"setting\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 604800,
  .handler = schedule,
  .verify = check,
});
