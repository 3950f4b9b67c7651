#include "latchwork.h"

static const char *const works[] = { "gilding", "bearing", "pole", "letters" };

static char *name_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "repair %s", key);
  return name.bytes;
}

static bool is_known(const char *work) {
  for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
    if (strcmp(works[i], work) == 0) return true;
  return false;
}

/* Stores an entry. A store that is busy can be asked again a little later. */
static bool store(latch_answer *answer, const char *name, const char *value) {
  return latch_kv_set(answer, name, value) || latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the repair book is busy");
}

static bool order(latch_json args, latch_answer *answer) {
  char *steeple = latch_json_string(latch_json_member(args, "steeple"));
  char *work = latch_json_string(latch_json_member(args, "work"));
  int64_t height;
  if (!steeple || !*steeple || !work || !latch_json_integer(latch_json_member(args, "height_m"), &height))
    return latch_fail(answer, LATCH_INVALID_INPUT, "steeple, work and height_m are needed");
  if (!is_known(work)) return latch_fail(answer, LATCH_INVALID_INPUT, "unknown work: %s", work);

  char *name = name_of(latch_get_invocation().external_key);
  latch_text value = { 0 };
  latch_put(&value, "{\"steeple\":");
  latch_put_string(&value, steeple);
  latch_putf(&value, ",\"work\":\"%s\",\"scaffold\":%s}", work, height > 25 ? "true" : "false");
  if (!store(answer, name, value.bytes)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "repair", .resource_id = name, .operation = "create" });

  latch_put(&answer->result, "{\"repair\":");
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"scaffold\":%s}", height > 25 ? "true" : "false");
  return true;
}

/* Takes the order out of the book again. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  char *name = name_of(key);
  bool was_there;
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the repair is no longer in the book");
  latch_changed(answer, (latch_change){ .resource_type = "repair", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Vane.Repair",
  .description = "Enters the repair of a weathervane into the repair book.",
  .input = "{\"type\":\"object\",\"properties\":{\"steeple\":{\"type\":\"string\",\"maxLength\":200},"
           "\"work\":{\"type\":\"string\"},\"height_m\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":200}},"
           "\"required\":[\"steeple\",\"work\",\"height_m\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"repair\",\"scaffold\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = order,
  .compensate = withdraw,
});
