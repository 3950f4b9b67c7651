#include "latchwork.h"

static char *entry_of(latch_json args, latch_answer *answer) {
  char *room = latch_json_string(latch_json_member(args, "room"));
  if (!room || !*room || strlen(room) > 80) {
    latch_fail(answer, LATCH_INVALID_INPUT, "room must have 1 to 80 bytes");
    return NULL;
  }
  latch_text entry = { 0 };
  latch_putf(&entry, "preset/%s", room);
  return entry.bytes;
}

static char *celsius_of(double celsius) {
  latch_text text = { 0 };
  latch_putf(&text, "%.1f", celsius);
  return text.bytes;
}

static bool set(latch_json args, latch_answer *answer) {
  double celsius;
  char *entry = entry_of(args, answer), *before;
  if (!entry) return false;
  if (!latch_json_number(latch_json_member(args, "celsius"), &celsius) || !(celsius >= 5 && celsius <= 30))
    return latch_fail(answer, LATCH_INVALID_INPUT, "celsius must be from 5 to 30");
  if (!latch_kv_get(answer, entry, &before)) return false;
  char *after = celsius_of(celsius);
  if (!latch_kv_set(answer, entry, after)) return false;
  latch_putf(&answer->result, "{\"celsius\":%s,\"before\":%s}", after, before ? before : "null");
  latch_changed(answer, (latch_change){ .resource_type = "preset", .resource_id = entry, .operation = before ? "update" : "create",
                                        .version = after });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the preset is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the preset has another temperature";
}

/* Takes the preset away again, unless it was changed in the meantime. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *entry = entry_of(args, answer), *found;
  double celsius = 0;
  bool was_there;
  if (!entry) return false;
  latch_json_number(latch_json_member(result, "celsius"), &celsius);
  if (!latch_kv_get(answer, entry, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || strcmp(found, celsius_of(celsius)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the preset was changed or removed");
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the preset was removed");
  latch_put(&answer->result, "{}");
  latch_changed(answer, (latch_change){ .resource_type = "preset", .resource_id = entry, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "ThermostatPreset.Set",
  .description = "Sets the preset temperature of a room.",
  .input = "{\"type\":\"object\",\"properties\":{\"room\":{\"type\":\"string\"},\"celsius\":{\"type\":\"number\"}},"
           "\"required\":[\"room\",\"celsius\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"celsius\":{\"type\":\"number\"},\"before\":{\"type\":[\"number\",\"null\"]}},"
            "\"required\":[\"celsius\",\"before\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = set,
  .verify = check,
  .compensate = take_back,
});
