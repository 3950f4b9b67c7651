/* Lamp.Assign: gives a street lamp to a keeper. Lamp.Read: shows an assignment.
 *
 * An assignment has two entries. The entry `lamp/KEY` is written last, and makes the assignment visible. */
#include "latchwork.h"

static char *key_of(const char *kind, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%s/%s", kind, key);
  return text.bytes;
}

static char *lamp_text(const char *lamp, const char *keeper) {
  latch_text text = { 0 };
  latch_put(&text, "{\"lamp\":");
  latch_put_string(&text, lamp);
  latch_put(&text, ",\"keeper\":");
  latch_put_string(&text, keeper);
  latch_put(&text, "}");
  return text.bytes;
}

static bool assigned(const char *key, latch_answer *answer, const char *operation) {
  latch_put(&answer->result, "{\"key\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "note", .resource_id = key_of("note", key), .operation = operation });
  latch_changed(answer, (latch_change){ .resource_type = "lamp", .resource_id = key_of("lamp", key), .operation = operation });
  return true;
}

static bool assign(latch_json args, latch_answer *answer) {
  char *lamp = latch_json_string(latch_json_member(args, "lamp"));
  char *keeper = latch_json_string(latch_json_member(args, "keeper"));
  char *note = latch_json_string(latch_json_member(args, "note"));
  if (!lamp || !keeper || !note) return latch_fail(answer, LATCH_INVALID_INPUT, "lamp, keeper and note are needed");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key_of("note", key), note)) return false;
  if (!latch_kv_set(answer, key_of("lamp", key), lamp_text(lamp, keeper))) {
    answer->applied_unknown = true; /* the note is written */
    return false;
  }
  return assigned(key, answer, "create");
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, key_of("lamp", key), &found)) return LATCH_UNKNOWN;
  /* A note without its lamp is no effect: it is never read, and the next try writes it again. */
  if (!found) return LATCH_DID_NOT_HAPPEN;
  assigned(key, answer, "create");
  return LATCH_HAPPENED;
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *lamp = latch_json_string(latch_json_member(args, "lamp"));
  char *keeper = latch_json_string(latch_json_member(args, "keeper"));
  char *note = latch_json_string(latch_json_member(args, "note"));
  char *found_lamp, *found_note;
  bool was_there;
  if (!lamp || !keeper || !note) return latch_fail(answer, LATCH_INVALID_INPUT, "lamp, keeper and note are needed");
  if (!latch_kv_get(answer, key_of("lamp", key), &found_lamp) || !latch_kv_get(answer, key_of("note", key), &found_note)) return false;
  if (!found_lamp || !found_note || strcmp(found_lamp, lamp_text(lamp, keeper)) || strcmp(found_note, note))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the assignment was changed or removed");
  if (!latch_kv_delete(answer, key_of("lamp", key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the assignment was removed");
  bool gone = latch_kv_delete(answer, key_of("note", key), &was_there);
  if (gone && !was_there) latch_fail(answer, LATCH_POLICY_DENIED, "the note was removed by someone else");
  if (!gone || !was_there) {
    answer->applied_unknown = true; /* undone in part */
    return false;
  }
  return assigned(key, answer, "delete");
}

static bool show(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "key")), *lamp, *note;
  if (!key) return latch_fail(answer, LATCH_INVALID_INPUT, "the key is missing");
  if (!latch_kv_get(answer, key_of("lamp", key), &lamp)) return false;
  if (!lamp) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such assignment");
  if (!latch_kv_get(answer, key_of("note", key), &note)) return false;
  latch_putf(&answer->result, "{\"assignment\":%s,\"note\":", lamp);
  latch_put_string(&answer->result, note ? note : "");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Lamp.Assign",
    .description = "Gives a street lamp to a keeper.",
    .input = "{\"type\":\"object\",\"properties\":{\"lamp\":{\"type\":\"string\",\"maxLength\":100},"
             "\"keeper\":{\"type\":\"string\",\"maxLength\":100},\"note\":{\"type\":\"string\",\"maxLength\":1000}},"
             "\"required\":[\"lamp\",\"keeper\",\"note\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"key\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = assign, .reconcile = find, .compensate = withdraw },
  { .name = "Lamp.Read",
    .description = "Shows the assignment of a street lamp.",
    .input = "{\"type\":\"object\",\"properties\":{\"key\":{\"type\":\"string\",\"maxLength\":150}},"
             "\"required\":[\"key\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"assignment\",\"note\"]}",
    .handler = show });
