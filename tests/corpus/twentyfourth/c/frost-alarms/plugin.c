#include "latchwork.h"

#include <time.h>

#define JSON(...) #__VA_ARGS__

static char *entry_of(const char *alarm) {
  latch_text name = { 0 };
  latch_putf(&name, "alarm/%s", alarm);
  return name.bytes;
}

static bool raised(const char *alarm, const char *line, latch_answer *answer) {
  latch_put(&answer->result, "{\"alarm\":");
  latch_put_string(&answer->result, alarm);
  latch_putf(&answer->result, ",\"raised_at\":%lld}", strtoll(line, NULL, 10));
  latch_changed(answer, (latch_change){ .resource_type = "alarm", .resource_id = alarm, .operation = "create", .version = line });
  return true;
}

static bool raise_alarm(latch_json args, latch_answer *answer) {
  char *field = latch_json_string(latch_json_member(args, "field"));
  int64_t tenths, until;
  if (!field || !latch_json_integer(latch_json_member(args, "tenths"), &tenths) || !latch_json_integer(latch_json_member(args, "until"), &until))
    return latch_fail(answer, LATCH_INVALID_INPUT, "field is a text without a zero character, tenths and until are integers");
  char *alarm = latch_get_invocation().external_key, *line;
  if (!latch_kv_get(answer, entry_of(alarm), &line)) {
    answer->applied_unknown = false;
    return false;
  }
  /* An alarm that was raised stays as it was raised, whatever the time is now. */
  if (line) return raised(alarm, line, answer);

  long long now = (long long)time(NULL);
  if (until < now) return latch_fail(answer, LATCH_POLICY_DENIED, "the forecast for %s is over", field);
  latch_text made = { 0 };
  latch_putf(&made, "%lld %lld %s", now, (long long)tenths, field);
  return latch_kv_set(answer, entry_of(alarm), made.bytes) && raised(alarm, made.bytes, answer);
}

static const char *inspect(latch_change change, latch_answer *answer) {
  char *line;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &line)) return NULL;
  if (!line) return "the alarm is not on the board";
  if (!change.version || strcmp(line, change.version) != 0) return "the board has another alarm";
  return NULL;
}

static bool call_off(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *line;
  int64_t raised_at;
  bool was_there;
  if (!latch_json_integer(latch_json_member(result, "raised_at"), &raised_at))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the time of the alarm is not known");
  if (!latch_kv_get(answer, entry_of(key), &line)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!line) return latch_fail(answer, LATCH_POLICY_DENIED, "the alarm is not on the board any more");
  if (strtoll(line, NULL, 10) != raised_at) return latch_fail(answer, LATCH_POLICY_DENIED, "the board has another alarm");
  if (!latch_kv_delete(answer, entry_of(key), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the alarm was removed meanwhile");
  latch_changed(answer, (latch_change){ .resource_type = "alarm", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Frost.Raise",
  .description = "Raises a frost alarm for a field, while its forecast lasts.",
  .input = JSON({"type":"object","required":["field","tenths","until"],"additionalProperties":false,"properties":{
    "field":{"type":"string","minLength":1,"maxLength":2000},
    "tenths":{"type":"integer","minimum":-600,"maximum":50},
    "until":{"type":"integer","minimum":0,"maximum":253402300799}}}),
  .output = JSON({"type":"object","required":["alarm","raised_at"],"additionalProperties":false,"properties":{
    "alarm":{"type":"string"},"raised_at":{"type":"integer"}}}),
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * 24 * 60 * 60,
  .handler = raise_alarm,
  .verify = inspect,
  .compensate = call_off,
});
