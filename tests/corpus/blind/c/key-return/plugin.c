#include "latchwork.h"

static bool hand_in(latch_json args, latch_answer *answer) {
  char *room = latch_json_string(latch_json_member(args, "room"));
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  if (!room || !*room || !guest) return latch_fail(answer, LATCH_INVALID_INPUT, "room or guest is missing");

  char *key = latch_get_invocation().external_key;
  latch_text book = { 0 }, line = { 0 }, place = { 0 };
  latch_putf(&book, "book/%s", key);
  latch_putf(&line, "%s: %s", room, guest);
  if (!latch_kv_set(answer, book.bytes, line.bytes)) return false;

  char *state;
  latch_putf(&place, "room/%s", room);
  if (!latch_kv_get(answer, place.bytes, &state)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!state) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no room %s", room);
  if (!latch_kv_set(answer, place.bytes, "at the desk")) {
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ "book", book.bytes, "create", .version = line.bytes });
  latch_changed(answer, (latch_change){ "room", place.bytes, "update", .version = "at the desk" });
  latch_put(&answer->result, "{\"room\":");
  latch_put_string(&answer->result, room);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "KeyReturn.HandIn",
  .description = "Notes that a guest returned the key of a room.",
  .input = "{\"type\":\"object\",\"properties\":{\"room\":{\"type\":\"string\"},\"guest\":{\"type\":\"string\"}},"
           "\"required\":[\"room\",\"guest\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"room\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = hand_in,
});
