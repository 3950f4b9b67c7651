/* Trail.Close: closes a hiking trail, and puts a notice on the board of the visitor centre. */
#include "latchwork.h"

static char *key_of(const char *kind, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%s/%s", kind, key);
  return text.bytes;
}

/* Text for the ranger. */
static char *closure_text(const char *trail, const char *reason) {
  latch_text text = { 0 };
  latch_put(&text, "{\"trail\":");
  latch_put_string(&text, trail);
  latch_put(&text, ",\"reason\":");
  latch_put_string(&text, reason);
  latch_put(&text, "}");
  return text.bytes;
}

static bool close_trail(latch_json args, latch_answer *answer) {
  char *trail = latch_json_string(latch_json_member(args, "trail"));
  char *reason = latch_json_string(latch_json_member(args, "reason"));
  if (!trail || !*trail || !reason) return latch_fail(answer, LATCH_INVALID_INPUT, "trail and reason are needed");
  char *key = latch_get_invocation().external_key;
  char *closure = key_of("closure", key), *notice = key_of("notice", key);
  latch_text words = { 0 };
  latch_putf(&words, "%s is closed: %s", trail, *reason ? reason : "ask at the desk");

  if (!latch_kv_set(answer, closure, closure_text(trail, reason))) return false;
  if (!latch_kv_set(answer, notice, words.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  latch_put(&answer->result, "{\"closure\":");
  latch_put_string(&answer->result, closure);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "closure", .resource_id = closure, .operation = "create" });
  latch_changed(answer, (latch_change){ .resource_type = "notice", .resource_id = notice, .operation = "create" });
  return true;
}

/* Opens the trail again, unless someone has changed the closure since. */
static bool open_again(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *trail = latch_json_string(latch_json_member(args, "trail"));
  char *reason = latch_json_string(latch_json_member(args, "reason"));
  char *closure = key_of("closure", key), *found;
  bool was_there;
  if (!trail || !reason) return latch_fail(answer, LATCH_INVALID_INPUT, "trail and reason are needed");
  if (!latch_kv_get(answer, closure, &found)) return false;
  if (!found) return latch_fail(answer, LATCH_POLICY_DENIED, "the closure is gone");
  if (strcmp(found, closure_text(trail, reason)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the closure was changed: %s", found);
  if (!latch_kv_delete(answer, closure, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the closure is gone");
  latch_changed(answer, (latch_change){ .resource_type = "closure", .resource_id = closure, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Trail.Close",
  .description = "Closes a hiking trail, with a notice.",
  .input = "{\"type\":\"object\",\"properties\":{\"trail\":{\"type\":\"string\",\"maxLength\":200},"
           "\"reason\":{\"type\":\"string\",\"maxLength\":2000}},\"required\":[\"trail\",\"reason\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"closure\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = close_trail,
  .compensate = open_again,
});
