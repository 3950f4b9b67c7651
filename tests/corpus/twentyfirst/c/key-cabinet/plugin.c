#include "latchwork.h"

static char *entry(const char *hook) {
  latch_text name = { 0 };
  latch_putf(&name, "hook/%s", hook);
  return name.bytes;
}

/* The result has the whole earlier entry as a text, or null. compensate puts it back. */
static bool answered(const char *hook, const char *previous, latch_answer *answer) {
  latch_put(&answer->result, "{\"hook\":");
  latch_put_string(&answer->result, hook);
  latch_put(&answer->result, ",\"previous\":");
  if (previous) latch_put_string(&answer->result, previous);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

static bool assign(latch_json args, latch_answer *answer) {
  char *hook = latch_json_string(latch_json_member(args, "hook"));
  char *door = latch_json_string(latch_json_member(args, "door"));
  if (!hook || !door) return latch_fail(answer, LATCH_INVALID_INPUT, "hook or door are no texts");
  char *key = latch_get_invocation().external_key, *previous;
  if (!latch_kv_get(answer, entry(hook), &previous)) return false;
  /* The key of the call distinguishes this entry from a later one for the same door. */
  latch_text made = { 0 };
  latch_putf(&made, "%s %s", key, door);
  if (!latch_kv_set(answer, entry(hook), made.bytes)) return false;
  latch_changed(answer, (latch_change){
    .resource_type = "hook", .resource_id = hook, .operation = "update", .version = made.bytes });
  return answered(hook, previous, answer);
}

static bool clear(latch_json args, latch_answer *answer) {
  char *hook = latch_json_string(latch_json_member(args, "hook")), *previous;
  bool was_there;
  if (!hook) return latch_fail(answer, LATCH_INVALID_INPUT, "the hook is no text");
  if (!latch_kv_get(answer, entry(hook), &previous)) return false;
  if (!previous) return latch_fail(answer, LATCH_INVALID_INPUT, "hook %s is free", hook);
  if (!latch_kv_delete(answer, entry(hook), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_INVALID_INPUT, "hook %s is free", hook);
  latch_changed(answer, (latch_change){ .resource_type = "hook", .resource_id = hook, .operation = "delete" });
  return answered(hook, previous, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *present;
  if (!latch_kv_get(answer, entry(change.resource_id), &present)) return NULL;
  if (!change.version) return present ? "the hook is in use again" : NULL;
  if (!present) return "the hook is free";
  return strcmp(present, change.version) == 0 ? NULL : "the hook has another key";
}

static bool put_back(const char *hook, const char *previous, latch_answer *answer) {
  bool was_there;
  bool done = previous ? latch_kv_set(answer, entry(hook), previous) : latch_kv_delete(answer, entry(hook), &was_there);
  if (done)
    latch_changed(answer, (latch_change){ .resource_type = "hook", .resource_id = hook, .operation = "restore" });
  return done;
}

/* Undoes Hook.Assign, if the entry is still that of the call. */
static bool unassign(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *hook = latch_json_string(latch_json_member(args, "hook")), *present;
  char *previous = latch_json_string(latch_json_member(result, "previous"));
  if (!latch_kv_get(answer, entry(hook), &present)) return false;
  size_t len = strlen(key);
  if (!present || strncmp(present, key, len) != 0 || present[len] != ' ')
    return latch_fail(answer, LATCH_POLICY_DENIED, "hook %s was changed since", hook);
  return put_back(hook, previous, answer);
}

/* Undoes Hook.Clear, if the hook is still free. */
static bool refill(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *hook = latch_json_string(latch_json_member(args, "hook")), *present;
  if (!latch_kv_get(answer, entry(hook), &present)) return false;
  if (present) return latch_fail(answer, LATCH_POLICY_DENIED, "hook %s is in use again", hook);
  return put_back(hook, latch_json_string(latch_json_member(result, "previous")), answer);
}

#define HOOK "\"hook\":{\"type\":\"string\",\"pattern\":\"^[0-9]{1,3}$\"}"
#define OUTPUT "{\"type\":\"object\",\"properties\":{\"hook\":{\"type\":\"string\"}," \
               "\"previous\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"hook\",\"previous\"]}"

LATCH_PLUGIN({
  .name = "Hook.Assign",
  .description = "Assigns a hook of the key cabinet to a door, in place of an earlier one.",
  .input = "{\"type\":\"object\",\"properties\":{" HOOK ",\"door\":{\"type\":\"string\",\"maxLength\":80}},"
           "\"required\":[\"hook\",\"door\"],\"additionalProperties\":false}",
  .output = OUTPUT,
  .effects = LATCH_INTERNAL_WRITE,
  .handler = assign,
  .verify = check,
  .compensate = unassign,
}, {
  .name = "Hook.Clear",
  .description = "Frees a hook of the key cabinet.",
  .input = "{\"type\":\"object\",\"properties\":{" HOOK "},\"required\":[\"hook\"],\"additionalProperties\":false}",
  .output = OUTPUT,
  .effects = LATCH_INTERNAL_WRITE,
  .handler = clear,
  .verify = check,
  .compensate = refill,
});
