/* Sundial.Adjust: stores the correction of a sundial with the readings from which it was made. */
#include "latchwork.h"

/* The readings are written first. No operator reads them before the last write, which makes the correction visible. */
static char *reading_name(const char *key, size_t i) {
  latch_text name = { 0 };
  latch_putf(&name, "reading/%s/%zu", key, i);
  return name.bytes;
}

static char *correction_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "correction/%s", key);
  return name.bytes;
}

/* Returns the text of the correction: the mean of the readings in whole seconds. */
static char *correction(latch_json args) {
  latch_json readings = latch_json_member(args, "readings");
  size_t count = latch_json_count(readings);
  int64_t sum = 0, one = 0;
  for (size_t i = 0; i < count; i++)
    if (latch_json_integer(latch_json_item(readings, i), &one)) sum += one;
  latch_text text = { 0 };
  latch_putf(&text, "{\"dial\":%s,\"seconds\":%lld}", latch_json_text(latch_json_member(args, "dial")),
             (long long)(count ? sum / (int64_t)count : 0));
  return text.bytes;
}

static void adjusted(latch_json args, const char *key, latch_answer *answer) {
  latch_put(&answer->result, correction(args));
  latch_changed(answer, (latch_change){ .resource_type = "correction", .resource_id = key, .operation = "create" });
}

static bool adjust(latch_json args, latch_answer *answer) {
  char *dial = latch_json_string(latch_json_member(args, "dial"));
  latch_json readings = latch_json_member(args, "readings");
  size_t count = latch_json_count(readings);
  if (!dial || !*dial) return latch_fail(answer, LATCH_INVALID_INPUT, "the dial has no name");
  if (count < 1) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no readings");

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++)
    if (!latch_kv_set(answer, reading_name(key, i), latch_json_text(latch_json_item(readings, i)))) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
  if (!latch_kv_set(answer, correction_name(key), correction(args))) {
    answer->applied_unknown = true;
    return false;
  }
  adjusted(args, key, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, correction_name(key), &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  adjusted(args, key, answer);
  return LATCH_HAPPENED;
}

/* Removes the correction first, then its readings. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, correction_name(key), &found)) return false;
  if (!found || strcmp(found, correction(args)))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the correction was changed or removed");
  if (!latch_kv_delete(answer, correction_name(key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the correction was removed");

  size_t count = latch_json_count(latch_json_member(args, "readings"));
  for (size_t i = 0; i < count; i++) {
    bool done = latch_kv_delete(answer, reading_name(key, i), &was_there);
    if (done && !was_there) done = latch_fail(answer, LATCH_POLICY_DENIED, "reading %zu was removed", i + 1);
    if (!done) {
      answer->applied_unknown = true;
      return false;
    }
  }
  latch_changed(answer, (latch_change){ .resource_type = "correction", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Sundial.Adjust",
  .description = "Stores the correction of a sundial.",
  .input = "{\"type\":\"object\",\"required\":[\"dial\",\"readings\"],\"additionalProperties\":false,\"properties\":{"
           "\"dial\":{\"type\":\"string\",\"maxLength\":80},\"readings\":{\"type\":\"array\",\"maxItems\":8,"
           "\"items\":{\"type\":\"integer\",\"minimum\":-3600,\"maximum\":3600}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"dial\",\"seconds\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = adjust,
  .reconcile = find,
  .compensate = take_back,
});
