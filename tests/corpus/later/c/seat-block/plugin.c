/* Seats.Block: blocks seats of a hall for a group. */
#include "latchwork.h"

#include <ctype.h>

enum { MOST = 60 };

static bool is_seat(const char *seat) {
  return seat && isupper((unsigned char)seat[0]) && isdigit((unsigned char)seat[1]) && strlen(seat) <= 3;
}

static bool block(latch_json args, latch_answer *answer) {
  char *group = latch_json_string(latch_json_member(args, "group"));
  latch_json seats = latch_json_member(args, "seats");
  size_t count = latch_json_count(seats);
  if (!group || !*group) return latch_fail(answer, LATCH_INVALID_INPUT, "the group has no name");
  if (count == 0 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu seats: 1 to %d are possible", count, MOST);
  char *names[MOST];
  for (size_t i = 0; i < count; i++) {
    names[i] = latch_json_string(latch_json_item(seats, i));
    if (!is_seat(names[i])) return latch_fail(answer, LATCH_INVALID_INPUT, "seat %zu has no valid name", i);
  }

  for (size_t i = 0; i < count; i++) {
    latch_text key = { 0 };
    latch_putf(&key, "seat/%s", names[i]);
    if (!latch_kv_set(answer, key.bytes, group)) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "seat", .resource_id = names[i], .operation = "block" });
  }
  latch_put(&answer->result, "{\"group\":");
  latch_put_string(&answer->result, group);
  latch_putf(&answer->result, ",\"blocked\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Seats.Block",
  .description = "Blocks seats of a hall for a group.",
  .input = "{\"type\":\"object\",\"properties\":{\"group\":{\"type\":\"string\"},\"seats\":{\"type\":\"array\","
           "\"items\":{\"type\":\"string\"}}},\"required\":[\"group\",\"seats\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"group\",\"blocked\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = block,
});
