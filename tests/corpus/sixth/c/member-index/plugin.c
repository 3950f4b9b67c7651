/* Builds an index from the user names of a list to their places in the list. User names are not case-sensitive. */
#include "latchwork.h"

#include <ctype.h>

static bool index_members(latch_json input, latch_answer *answer) {
  latch_json names = latch_json_member(input, "names");
  size_t count = latch_json_count(names);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the list has no names");
  latch_put(&answer->result, "{\"places\":{");
  char *last = NULL;
  bool first = true;
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_item(names, i));
    if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "name %zu is empty", i + 1);
    for (char *c = name; *c; c++) *c = (char)tolower((unsigned char)*c);
    /* A repeated line of the export counts once. */
    if (last && strcmp(last, name) == 0) continue;
    if (!first) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, name);
    latch_putf(&answer->result, ":%zu", i + 1);
    first = false;
    last = name;
  }
  latch_putf(&answer->result, "},\"count\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Member.Index",
  .description = "Builds an index from user names to their places in a list.",
  .input = "{\"type\":\"object\",\"properties\":{\"names\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"names\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"places\":{\"type\":\"object\"},\"count\":{\"type\":\"integer\"}},"
            "\"required\":[\"places\",\"count\"]}",
  .determinism = LATCH_PURE,
  .handler = index_members,
});
