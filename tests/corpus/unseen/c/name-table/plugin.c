#include "latchwork.h"

enum { ROOM = 64, LENGTH = 32 };

static char names[ROOM][LENGTH];
static size_t used;

/* Stores a name. Returns its place in the table, or NULL if the table is full. */
static const char *stored(const char *prefix, int64_t number) {
  if (used == ROOM) return NULL;
  snprintf(names[used], LENGTH, "%.20s-%lld", prefix, (long long)number);
  return names[used++];
}

static bool list_names(latch_json input, latch_answer *answer) {
  char *prefix = latch_json_string(latch_json_member(input, "prefix"));
  int64_t count;
  if (!prefix || !latch_json_integer(latch_json_member(input, "count"), &count) || count < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "prefix or count is missing");
  latch_put(&answer->result, "{\"names\":[");
  for (int64_t i = 1; i <= count; i++) {
    const char *name = stored(prefix, i);
    if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "there are more than %d names", ROOM);
    if (i > 1) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, name);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Names.Index",
  .description = "Lists numbered names.",
  .input = "{\"type\":\"object\",\"properties\":{\"prefix\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"}},"
           "\"required\":[\"prefix\",\"count\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"names\"]}",
  .determinism = LATCH_PURE,
  .handler = list_names,
});
