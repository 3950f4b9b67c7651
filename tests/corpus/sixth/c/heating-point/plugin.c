/* Sets the heating of a room, and puts the earlier setting back when the call is undone. The entry of a room has the
 * key of the last call, the earlier degrees (or "-") and the degrees. */
#include "latchwork.h"

static char *place(latch_json args) {
  char *room = latch_json_string(latch_json_member(args, "room"));
  if (!room || !*room) return NULL;
  latch_text name = { 0 };
  latch_putf(&name, "room/%s", room);
  return name.bytes;
}

static bool answered(const char *room, const char *before, const char *degrees, latch_answer *answer) {
  latch_putf(&answer->result, "{\"degrees\":%s,\"before\":%s}", degrees, strcmp(before, "-") == 0 ? "null" : before);
  latch_changed(answer, (latch_change){ "heating", room, "update", .version = degrees });
  return true;
}

/* Splits an entry in place. */
static bool split(char *entry, char **before, char **degrees) {
  *before = strchr(entry, ' ');
  if (!*before) return false;
  *(*before)++ = 0;
  *degrees = strchr(*before, ' ');
  if (!*degrees) return false;
  *(*degrees)++ = 0;
  return true;
}

static bool set(latch_json args, latch_answer *answer) {
  char *room = place(args), *entry, *before = "-", *degrees;
  int64_t wanted;
  if (!room || !latch_json_integer(latch_json_member(args, "degrees"), &wanted))
    return latch_fail(answer, LATCH_INVALID_INPUT, "room or degrees are missing");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_get(answer, room, &entry)) return false;
  char *old_before;
  if (entry && split(entry, &old_before, &degrees)) before = strcmp(entry, key) == 0 ? old_before : degrees;
  latch_text made = { 0 }, number = { 0 };
  latch_putf(&number, "%lld", (long long)wanted);
  latch_putf(&made, "%s %s %s", key, before, number.bytes);
  if (!latch_kv_set(answer, room, made.bytes)) return false;
  return answered(room, before, number.bytes, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *room = place(args), *entry, *before, *degrees;
  if (!room || !latch_kv_get(answer, room, &entry)) return LATCH_UNKNOWN;
  /* A later call of another job may have replaced the entry of this call. */
  if (!entry || !split(entry, &before, &degrees) || strcmp(entry, key) != 0) return LATCH_UNKNOWN;
  answered(room, before, degrees, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry, *before, *degrees;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL;
  if (!entry || !split(entry, &before, &degrees)) return "the room has no setting";
  return change.version && strcmp(change.version, degrees) == 0 ? NULL : "the room has another setting";
}

static bool put_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *room = place(args);
  bool was_there;
  int64_t before;
  if (!room) return latch_fail(answer, LATCH_INVALID_INPUT, "room is missing");
  latch_put(&answer->result, "null");
  if (!latch_json_integer(latch_json_member(result, "before"), &before)) {
    if (!latch_kv_delete(answer, room, &was_there)) return false;
    latch_changed(answer, (latch_change){ "heating", room, "delete" });
    return true;
  }
  latch_text made = { 0 }, number = { 0 };
  latch_putf(&number, "%lld", (long long)before);
  latch_putf(&made, "%s - %s", key, number.bytes);
  if (!latch_kv_set(answer, room, made.bytes)) return false;
  latch_changed(answer, (latch_change){ "heating", room, "update", .version = number.bytes });
  return true;
}

LATCH_PLUGIN({
  .name = "Heating.Set",
  .description = "Sets the heating of a room.",
  .input = "{\"type\":\"object\",\"properties\":{\"room\":{\"type\":\"string\",\"maxLength\":60},"
           "\"degrees\":{\"type\":\"integer\"}},\"required\":[\"room\",\"degrees\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"degrees\":{\"type\":\"integer\"},"
            "\"before\":{\"type\":[\"integer\",\"null\"]}},\"required\":[\"degrees\",\"before\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = set,
  .reconcile = find,
  .verify = check,
  .compensate = put_back,
});
