#include "latchwork.h"

enum { OPEN = -1, IN_WORK = -2, CYCLE = -3 };

typedef struct {
  char *name;
  latch_json needs; /* places of the parts that have to stand before this one */
  int level;
} part;

static part *parts;
static size_t part_count;

/* Returns the item after this one, or a missing value. */
static latch_json next(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

/* Returns the assembly round of a part: one more than the latest round of the parts that it needs. */
static int level_of(size_t place) {
  part *one = &parts[place];
  if (one->level == IN_WORK) return CYCLE;
  if (one->level != OPEN) return one->level;
  one->level = IN_WORK;
  int level = 0;
  for (latch_json need = latch_json_item(one->needs, 0); need.at; need = next(need)) {
    int64_t under = 0;
    latch_json_integer(need, &under);
    int below = level_of((size_t)under);
    if (below == CYCLE) return CYCLE;
    if (below + 1 > level) level = below + 1;
  }
  return one->level = level;
}

/* Returns true if each need is the place of a part. */
static bool needs_exist(latch_json needs) {
  int64_t place;
  for (latch_json need = latch_json_item(needs, 0); need.at; need = next(need))
    if (!latch_json_integer(need, &place) || place < 0 || (size_t)place >= part_count) return false;
  return true;
}

static bool plan(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "parts");
  part_count = latch_json_count(list);
  parts = latch_room(part_count * sizeof *parts);
  size_t i = 0;
  for (latch_json item = latch_json_item(list, 0); item.at; item = next(item), i++) {
    parts[i] = (part){ latch_json_string(latch_json_member(item, "name")), latch_json_member(item, "needs"), OPEN };
    if (!parts[i].name) return latch_fail(answer, LATCH_INVALID_INPUT, "part %zu has no name", i);
    if (!needs_exist(parts[i].needs)) return latch_fail(answer, LATCH_INVALID_INPUT, "%s needs a part that is not listed", parts[i].name);
  }

  int rounds = 0;
  for (i = 0; i < part_count; i++) {
    int level = level_of(i);
    if (level == CYCLE) return latch_fail(answer, LATCH_INVALID_INPUT, "%s stands on itself", parts[i].name);
    if (level + 1 > rounds) rounds = level + 1;
  }

  latch_putf(&answer->result, "{\"rounds\":%d,\"parts\":[", rounds);
  for (i = 0; i < part_count; i++) {
    latch_put(&answer->result, i ? ",{\"name\":" : "{\"name\":");
    latch_put_string(&answer->result, parts[i].name);
    latch_putf(&answer->result, ",\"round\":%d}", parts[i].level + 1);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Dome.Plan",
  .description = "Finds the round of assembly for each part of a dome.",
  .input = "{\"type\":\"object\",\"properties\":{\"parts\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"properties\":{\"name\":{\"type\":\"string\"},\"needs\":{\"type\":\"array\",\"items\":{\"type\":\"integer\",\"minimum\":0}}},"
           "\"required\":[\"name\",\"needs\"]}}},\"required\":[\"parts\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"rounds\",\"parts\"]}",
  .handler = plan,
});
