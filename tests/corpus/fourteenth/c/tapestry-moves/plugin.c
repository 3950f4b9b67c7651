/* Tapestry.Move: records the rooms to which the tapestries of a castle are moved. */
#include "latchwork.h"

typedef struct {
  char *tapestry, *room;
} move;

/* Reads all moves before the first one is recorded. */
static move *read_moves(latch_json given, size_t count, latch_answer *answer) {
  move *moves = latch_room(count * sizeof *moves);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(given, i);
    moves[i].tapestry = latch_json_string(latch_json_member(one, "tapestry"));
    moves[i].room = latch_json_string(latch_json_member(one, "room"));
    if (!moves[i].tapestry || !*moves[i].tapestry) {
      latch_fail(answer, LATCH_INVALID_INPUT, "move %zu has no tapestry", i + 1);
      return NULL;
    }
    if (!moves[i].room || !*moves[i].room) {
      latch_fail(answer, LATCH_INVALID_INPUT, "the tapestry %s has no room", moves[i].tapestry);
      return NULL;
    }
  }
  return moves;
}

static bool record(latch_json args, latch_answer *answer) {
  latch_json given = latch_json_member(args, "moves");
  size_t count = latch_json_count(given);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no moves");
  move *moves = read_moves(given, count, answer);
  if (!moves) return false;

  for (size_t i = 0; i < count; i++) {
    latch_text name = { 0 };
    latch_putf(&name, "room-of/%s", moves[i].tapestry);
    if (!latch_kv_set(answer, name.bytes, moves[i].room)) {
      /* Earlier tapestries of the list have been moved already. */
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "tapestry", .resource_id = moves[i].tapestry,
                                          .operation = "move", .version = moves[i].room });
  }
  latch_log(LATCH_INFO, "%zu tapestries moved", count);

  latch_putf(&answer->result, "{\"moved\":%zu,\"last\":", count);
  latch_put_string(&answer->result, moves[count - 1].tapestry);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Tapestry.Move",
  .description = "Records the rooms to which tapestries are moved.",
  .input = "{\"type\":\"object\",\"required\":[\"moves\"],\"additionalProperties\":false,\"properties\":{"
           "\"moves\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\",\"required\":[\"tapestry\",\"room\"],"
           "\"properties\":{\"tapestry\":{\"type\":\"string\",\"maxLength\":50},"
           "\"room\":{\"type\":\"string\",\"maxLength\":100}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"moved\",\"last\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = record,
});
