/* Jar.Start: notes the start of a jar of kimchi. A repetition under the same key finds the note and keeps its time. */
#include "latchwork.h"

#include <time.h>

/* Writes the answer of a note: `{"salt_g":..,"started":..,"taste_from":..}`. */
static bool started(const char *key, const char *note, latch_answer *answer) {
  latch_put(&answer->result, "{\"jar\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"note\":");
  latch_put(&answer->result, note);
  latch_put(&answer->result, "}");
  latch_text receipt = { 0 };
  latch_put(&receipt, "{\"jar\":");
  latch_put_string(&receipt, key);
  latch_put(&receipt, "}");
  answer->receipt = receipt.bytes;
  latch_changed(answer, (latch_change){ .resource_type = "jar", .resource_id = key, .operation = "create", .version = note });
  return true;
}

static bool start(latch_json args, latch_answer *answer) {
  int64_t cabbage;
  double percent, celsius = 18;
  if (!latch_json_integer(latch_json_member(args, "cabbage_g"), &cabbage) || !latch_json_number(latch_json_member(args, "salt_percent"), &percent))
    return latch_fail(answer, LATCH_INVALID_INPUT, "cabbage_g and salt_percent are needed");
  latch_json_number(latch_json_member(args, "celsius"), &celsius);

  char *key = latch_get_invocation().external_key, *note;
  if (!latch_kv_get(answer, key, &note)) return false; /* unreadable is not missing: write nothing */
  if (note) {
    latch_log(LATCH_INFO, "the jar was started already");
    return started(key, note, answer);
  }

  long long now = (long long)time(NULL);
  int days = celsius >= 20 ? 2 : celsius >= 15 ? 4 : 10;
  latch_text fresh = { 0 };
  latch_putf(&fresh, "{\"salt_g\":%lld,\"started\":%lld,\"taste_from\":%lld}", (long long)floor((double)cabbage * percent / 100 + 0.5), now,
             now + days * 86400ll);
  return latch_kv_set(answer, key, fresh.bytes) && started(key, fresh.bytes, answer);
}

LATCH_PLUGIN({
  .name = "Jar.Start",
  .description = "Notes the start of a jar of kimchi, once for each external key.",
  .input = "{\"type\":\"object\",\"properties\":{\"cabbage_g\":{\"type\":\"integer\",\"minimum\":100,\"maximum\":20000},"
           "\"salt_percent\":{\"type\":\"number\",\"minimum\":1,\"maximum\":6},\"celsius\":{\"type\":\"number\",\"minimum\":2,\"maximum\":35}},"
           "\"required\":[\"cabbage_g\",\"salt_percent\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"jar\":{\"type\":\"string\"},\"note\":{\"type\":\"object\"}},\"required\":[\"jar\",\"note\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 604800,
  .handler = start,
});
