/* Key.Lend: lends the key of a boathouse to a member of the club, with a slip that can be taken back. */
#include "latchwork.h"

/* Returns the name of the slip of the running call. */
static char *slip_name(void) {
  latch_text name = { 0 };
  latch_putf(&name, "slip/%s", latch_get_invocation().external_key);
  return name.bytes;
}

/* Writes the slip: house, member and number of days. Returns NULL if the arguments do not fit. */
static char *slip_text(latch_json args) {
  char *house = latch_json_string(latch_json_member(args, "house"));
  char *member = latch_json_string(latch_json_member(args, "member"));
  int64_t days;
  if (!house || !member || !*house || !*member) return NULL;
  if (!latch_json_integer(latch_json_member(args, "days"), &days) || days < 1 || days > 28) return NULL;
  latch_text text = { 0 };
  latch_put(&text, "{\"house\":");
  latch_put_string(&text, house);
  latch_put(&text, ",\"member\":");
  latch_put_string(&text, member);
  latch_putf(&text, ",\"days\":%d}", (int)days);
  return text.bytes;
}

static bool lend(latch_json args, latch_answer *answer) {
  char *text = slip_text(args);
  if (!text)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a slip needs a house, a member and a time of 1 to 28 days");
  char *name = slip_name();
  if (!latch_kv_set(answer, name, text)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "slip", .resource_id = name, .operation = "create",
                                        .version = text });
  latch_put(&answer->result, "{\"slip\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the slip is gone";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the slip has another text";
}

/* Takes the slip back if it has not changed. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  latch_log(LATCH_INFO, "taking back the slip of %s", key);
  char *name = slip_name(), *text = slip_text(args), *found;
  bool was_there;
  if (!latch_kv_get(answer, name, &found)) return false;
  if (!found || !text || strcmp(found, text) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the slip was changed or removed");
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the slip was removed");
  latch_changed(answer, (latch_change){ .resource_type = "slip", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Key.Lend",
  .description = "Lends the key of a boathouse to a member of the club.",
  .input = "{\"type\":\"object\",\"required\":[\"house\",\"member\",\"days\"],\"properties\":{"
           "\"house\":{\"type\":\"string\",\"maxLength\":60},\"member\":{\"type\":\"string\",\"maxLength\":120},"
           "\"days\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"slip\"],\"properties\":{\"slip\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = lend,
  .verify = check,
  .compensate = take_back,
});
