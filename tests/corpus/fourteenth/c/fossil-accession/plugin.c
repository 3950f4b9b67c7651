/* Fossil.Accept: enters a fossil in the book of a museum. A repetition under the same key enters nothing more. */
#include "latchwork.h"

#include <time.h>

enum { WEEK = 7 * 24 * 3600 };

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "fossil/%s", key);
  return name.bytes;
}

/* Answers with the entry of the map. The answer is the same for the first try, a repetition and a question. */
static bool accepted(const char *entry, const char *key, latch_answer *answer) {
  int64_t at;
  latch_json stored = latch_json_of(entry);
  if (!latch_json_integer(latch_json_member(stored, "received_at"), &at))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the entry of %s cannot be read", key);
  latch_put(&answer->result, "{\"label\":");
  latch_put(&answer->result, latch_json_text(latch_json_member(stored, "label")));
  latch_putf(&answer->result, ",\"received_at\":%lld}", (long long)at);
  latch_text receipt = { 0 };
  latch_put(&receipt, "{\"entry\":");
  latch_put_string(&receipt, key);
  latch_put(&receipt, "}");
  answer->receipt = receipt.bytes;
  latch_changed(answer, (latch_change){ .resource_type = "fossil", .resource_id = key, .operation = "create" });
  return true;
}

static bool accept(latch_json args, latch_answer *answer) {
  char *genus = latch_json_string(latch_json_member(args, "genus"));
  char *layer = latch_json_string(latch_json_member(args, "layer"));
  int64_t mass;
  if (!genus || !*genus) return latch_fail(answer, LATCH_INVALID_INPUT, "the genus is empty");
  if (!layer || !*layer) return latch_fail(answer, LATCH_INVALID_INPUT, "the layer is empty");
  if (!latch_json_integer(latch_json_member(args, "grams"), &mass) || mass < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the mass is missing");

  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, entry_name(key), &found)) return false;
  if (found) return accepted(found, key, answer);

  /* The first try decides the time. Later tries find this entry and keep it. */
  latch_text label = { 0 }, entry = { 0 };
  latch_putf(&label, "%s, %s, %lld g", genus, layer, (long long)mass);
  latch_put(&entry, "{\"label\":");
  latch_put_string(&entry, label.bytes);
  latch_putf(&entry, ",\"received_at\":%lld}", (long long)time(NULL));
  return latch_kv_set(answer, entry_name(key), entry.bytes) && accepted(entry.bytes, key, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, entry_name(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  return accepted(found, key, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

LATCH_PLUGIN({
  .name = "Fossil.Accept",
  .description = "Enters a fossil in the book of the museum.",
  .input = "{\"type\":\"object\",\"required\":[\"genus\",\"layer\",\"grams\"],\"additionalProperties\":false,\"properties\":{"
           "\"genus\":{\"type\":\"string\",\"maxLength\":80},\"layer\":{\"type\":\"string\",\"maxLength\":80},"
           "\"grams\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"label\",\"received_at\"],\"properties\":{"
            "\"label\":{\"type\":\"string\"},\"received_at\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = WEEK,
  .handler = accept,
  .reconcile = find,
});
