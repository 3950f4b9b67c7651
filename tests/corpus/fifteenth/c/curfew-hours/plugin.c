#include "latchwork.h"

static char *name_of(const char *district) {
  latch_text name = { 0 };
  latch_putf(&name, "curfew %s", district);
  return name.bytes;
}

/* Returns the entry of these arguments, or NULL if they are incomplete. */
static char *hours_of(latch_json args) {
  char *from = latch_json_string(latch_json_member(args, "from"));
  char *until = latch_json_string(latch_json_member(args, "until"));
  if (!from || !until) return NULL;
  latch_text hours = { 0 };
  latch_putf(&hours, "%s-%s", from, until);
  return hours.bytes;
}

static bool set_hours(latch_json args, latch_answer *answer) {
  char *district = latch_json_string(latch_json_member(args, "district"));
  char *hours = hours_of(args);
  if (!district || !hours) return latch_fail(answer, LATCH_INVALID_INPUT, "district, from and until are needed");
  if (strncmp(hours, hours + 6, 5) == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the quiet time has no length");
  char *name = name_of(district);
  if (!latch_kv_set(answer, name, hours)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "curfew", .resource_id = name, .operation = "update", .version = hours });
  latch_put(&answer->result, "{\"district\":");
  latch_put_string(&answer->result, district);
  latch_put(&answer->result, ",\"hours\":");
  latch_put_string(&answer->result, hours);
  latch_put(&answer->result, "}");
  return true;
}

/* Compares the hours of the district with those that the call has set. */
static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the district has no hours of its own";
  return strcmp(found, change.version) == 0 ? NULL : "the district has other hours";
}

/* Undoes the setting: without an entry, the hours of the town apply. */
static bool reset(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result, (void)key;
  char *name = name_of(latch_json_string(latch_json_member(args, "district")));
  char *hours = hours_of(args), *found;
  if (!latch_kv_get(answer, name, &found)) return false;
  if (!found || !hours || strcmp(found, hours) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the hours were changed since");
  bool was_there;
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the hours were removed since");
  latch_changed(answer, (latch_change){ .resource_type = "curfew", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Curfew.Set",
  .description = "Sets the quiet hours of a district.",
  .input = "{\"type\":\"object\",\"properties\":{\"district\":{\"type\":\"string\",\"pattern\":\"^[a-z-]{1,40}$\"},"
           "\"from\":{\"type\":\"string\",\"pattern\":\"^[0-2][0-9]:[0-5][0-9]$\"},"
           "\"until\":{\"type\":\"string\",\"pattern\":\"^[0-2][0-9]:[0-5][0-9]$\"}},"
           "\"required\":[\"district\",\"from\",\"until\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"district\",\"hours\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = set_hours,
  .verify = check,
  .compensate = reset,
});
