#include "latchwork.h"

/* The till has a sum, and the last entry in the form `amount reason`. */
static bool entry_of(latch_json args, latch_text *entry, int64_t *cents, latch_answer *answer) {
  char *reason = latch_json_string(latch_json_member(args, "reason"));
  if (!latch_json_integer(latch_json_member(args, "cents"), cents) || llabs(*cents) > 10000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "cents: a number of at most 10000000");
  if (!reason || !*reason || strlen(reason) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "the entry has no reason, or a long one");
  latch_putf(entry, "%lld %s", (long long)*cents, reason);
  return true;
}

static bool done(const char *sum, const char *entry, latch_answer *answer) {
  latch_putf(&answer->result, "{\"sum\":%s}", sum);
  latch_changed(answer, (latch_change){ .resource_type = "till", .resource_id = entry, .operation = "update", .version = sum });
  return true;
}

static bool enter(latch_json args, latch_answer *answer) {
  latch_text entry = { 0 }, sum = { 0 };
  int64_t cents;
  char *before;
  if (!entry_of(args, &entry, &cents, answer) || !latch_kv_get(answer, "sum", &before)) return false;
  latch_putf(&sum, "%lld", (before ? strtoll(before, NULL, 10) : 0) + (long long)cents);
  return latch_kv_set(answer, "sum", sum.bytes) && latch_kv_set(answer, "last", entry.bytes) && done(sum.bytes, entry.bytes, answer);
}

/* Called after a crash: the call happened if its entry is the last one. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)key;
  latch_text entry = { 0 };
  int64_t cents;
  char *last, *sum;
  if (!entry_of(args, &entry, &cents, answer) || !latch_kv_get(answer, "last", &last) || !latch_kv_get(answer, "sum", &sum)) return LATCH_UNKNOWN;
  if (!last || !sum || strcmp(last, entry.bytes) != 0) return LATCH_DID_NOT_HAPPEN;
  done(sum, entry.bytes, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Till.Enter",
  .description = "Enters an amount into the till.",
  .input = "{\"type\":\"object\",\"properties\":{\"cents\":{\"type\":\"integer\"},\"reason\":{\"type\":\"string\"}},"
           "\"required\":[\"cents\",\"reason\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"integer\"}},\"required\":[\"sum\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = enter,
  .reconcile = find,
});
