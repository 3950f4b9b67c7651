/* Turnstile.Count: adds the visitors that passed a gate of the zoo to the number of the day. */
#include "latchwork.h"

enum { ROOM = 40000 };

/* The key of a gate and a day: `2026-05-01/north`. */
static char *place(const char *day, const char *gate) {
  latch_text key = { 0 };
  latch_putf(&key, "%s/%s", day, gate);
  return key.bytes;
}

static bool is_day(const char *day) {
  if (!day || strlen(day) != 10) return false;
  for (int i = 0; i < 10; i++)
    if (i == 4 || i == 7 ? day[i] != '-' : day[i] < '0' || day[i] > '9') return false;
  return true;
}

static bool pass(latch_json args, latch_answer *answer) {
  char *day = latch_json_string(latch_json_member(args, "day"));
  char *gate = latch_json_string(latch_json_member(args, "gate"));
  int64_t visitors;
  if (!is_day(day)) return latch_fail(answer, LATCH_INVALID_INPUT, "the day has the form 2026-05-01");
  if (!gate || !*gate) return latch_fail(answer, LATCH_INVALID_INPUT, "the gate is missing");
  if (!latch_json_integer(latch_json_member(args, "visitors"), &visitors))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the number of visitors is missing");

  char *key = place(day, gate), *before;
  if (!latch_kv_get(answer, key, &before)) return false;
  long total = (before ? strtol(before, NULL, 10) : 0) + (long)visitors;
  if (total > ROOM) return latch_fail(answer, LATCH_POLICY_DENIED, "gate %s takes at most %d visitors a day", gate, ROOM);
  latch_text text = { 0 };
  latch_putf(&text, "%ld", total);
  if (!latch_kv_set(answer, key, text.bytes)) return false;

  latch_put(&answer->result, "{\"gate\":");
  latch_put_string(&answer->result, gate);
  latch_putf(&answer->result, ",\"total\":%ld}", total);
  latch_changed(answer, (latch_change){ .resource_type = "count", .resource_id = key, .operation = "update", .version = text.bytes });
  return true;
}

LATCH_PLUGIN({
  .name = "Turnstile.Count",
  .description = "Adds visitors to the number of a gate and a day.",
  .input = "{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"string\"},"
           "\"gate\":{\"type\":\"string\",\"maxLength\":40},"
           "\"visitors\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000}},"
           "\"required\":[\"day\",\"gate\",\"visitors\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"gate\",\"total\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = pass,
});
