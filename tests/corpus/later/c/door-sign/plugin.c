/* Room.Sign: the text of a door sign. */
#include "latchwork.h"

#include <ctype.h>

/* Returns the name with single spaces and without spaces at its ends. */
static char *tidy(const char *name) {
  latch_text text = { 0 };
  latch_put(&text, "");
  for (const char *c = name; *c; c++) {
    if (!isspace((unsigned char)*c)) latch_put_bytes(&text, c, 1);
    else if (text.len && c[1] && !isspace((unsigned char)c[1])) latch_put(&text, " ");
  }
  return text.bytes;
}

static bool sign(latch_json input, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(input, "name"));
  char *room = latch_json_string(latch_json_member(input, "room"));
  if (!name || !room) return latch_fail(answer, LATCH_INVALID_INPUT, "name or room is missing");
  name = tidy(name);
  room = tidy(room);
  if (!*name || !*room) return latch_fail(answer, LATCH_INVALID_INPUT, "name or room is empty");

  char *title = latch_json_string(latch_json_member(input, "title"));
  latch_text line = { 0 };
  latch_putf(&line, "%s%s%s", title ? title : "", title ? " " : "", name);
  latch_log(LATCH_INFO, "sign of room %s", room);
  latch_putf(&answer->result, "{\"room\":\"%s\",\"line\":\"%s\",\"width\":%zu}", room, line.bytes, line.len);
  return true;
}

LATCH_PLUGIN({
  .name = "Room.Sign",
  .description = "Writes the text of a door sign.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"room\":{\"type\":\"string\"},"
           "\"title\":{\"type\":\"string\"}},\"required\":[\"name\",\"room\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"room\",\"line\",\"width\"]}",
  .determinism = LATCH_PURE,
  .handler = sign,
});
