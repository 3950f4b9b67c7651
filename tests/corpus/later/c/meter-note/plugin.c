/* Meter.Note: notes a reading of a meter, once by its call and once by its day. */
#include "latchwork.h"

static char *named(const char *format, const char *one, const char *two) {
  latch_text text = { 0 };
  for (; *format; format++)
    if (*format == '1') latch_put(&text, one);
    else if (*format == '2') latch_put(&text, two);
    else latch_put_bytes(&text, format, 1);
  return text.bytes;
}

static bool note(latch_json args, latch_answer *answer) {
  char *meter = latch_json_string(latch_json_member(args, "meter"));
  char *day = latch_json_string(latch_json_member(args, "day"));
  int64_t reading;
  if (!meter || !*meter || strlen(meter) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "meter is missing");
  if (!day || strlen(day) != 10) return latch_fail(answer, LATCH_INVALID_INPUT, "day is not a date");
  if (!latch_json_integer(latch_json_member(args, "reading"), &reading) || reading < 0 || reading > 99999999)
    return latch_fail(answer, LATCH_INVALID_INPUT, "reading is not a number of a meter");

  char *key = latch_get_invocation().external_key;
  latch_text value = { 0 };
  latch_putf(&value, "%ld", (long)reading);
  /* Both entries are named by the key and depend on the arguments alone. A repetition writes them again. */
  char *by_call = named("call/1", key, ""), *by_day = named("day/1/2", day, key);
  if (!latch_kv_set(answer, by_call, value.bytes)) return false;
  if (!latch_kv_set(answer, by_day, named("1 2", meter, value.bytes))) {
    answer->applied_unknown = true;
    return false;
  }
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, by_call);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "reading", .resource_id = by_call, .operation = "create" });
  latch_changed(answer, (latch_change){ .resource_type = "reading", .resource_id = by_day, .operation = "create" });
  return true;
}

LATCH_PLUGIN({
  .name = "Meter.Note",
  .description = "Notes a reading of a meter.",
  .input = "{\"type\":\"object\",\"properties\":{\"meter\":{\"type\":\"string\"},\"day\":{\"type\":\"string\"},"
           "\"reading\":{\"type\":\"integer\"}},\"required\":[\"meter\",\"day\",\"reading\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 30 * 86400,
  .handler = note,
});
