/* Holds a time in the calendar of a room. One hold for a room and a topic is enough. */
#include "latchwork.h"

#include <time.h>

static bool hold(latch_json input, latch_answer *answer) {
  char *room = latch_json_string(latch_json_member(input, "room"));
  char *topic = latch_json_string(latch_json_member(input, "topic"));
  if (!room || !*room || !topic || !*topic) return latch_fail(answer, LATCH_INVALID_INPUT, "room or topic is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"room\":");
  latch_put_string(&args, room);
  latch_put(&args, ",\"topic\":");
  latch_put_string(&args, topic);
  latch_put(&args, "}");

  latch_text action = { 0 };
  latch_putf(&action, "hold/%s/%s/%lld", room, topic, (long long)(time(NULL) / 86400));
  char *held = latch_call(answer, "Calendar.Hold", args.bytes, action.bytes);
  if (!held) return false;
  char *id = latch_json_string(latch_json_member(latch_json_of(held), "id"));
  if (!id) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the calendar answered without an id");
  latch_put(&answer->result, "{\"hold\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Room.Hold",
  .description = "Holds a room for a topic.",
  .input = "{\"type\":\"object\",\"properties\":{\"room\":{\"type\":\"string\"},\"topic\":{\"type\":\"string\"}},"
           "\"required\":[\"room\",\"topic\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"hold\":{\"type\":\"string\"}},\"required\":[\"hold\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_PURE,
  .handler = hold,
});
