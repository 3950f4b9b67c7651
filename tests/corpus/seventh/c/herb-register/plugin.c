#include "latchwork.h"

#include <unistd.h>

#define SLOTS 1024

/* Counts plants by name. The table is salted, so that chosen names cannot all share one slot. */
static struct {
  const char *name;
  int count;
} table[SLOTS];

static uint32_t salt;

static uint32_t slot_of(const char *name) {
  uint32_t hash = 2166136261u ^ salt;
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) hash = (hash ^ *c) * 16777619u;
  uint32_t at = hash % SLOTS;
  while (table[at].name && strcmp(table[at].name, name) != 0) at = (at + 1) % SLOTS;
  return at;
}

static bool count(latch_json input, latch_answer *answer) {
  memset(table, 0, sizeof table);
  if (getentropy(&salt, sizeof salt) != 0) salt = 0;
  latch_json plants = latch_json_member(input, "plants");
  size_t total = latch_json_count(plants), names = 0;
  if (total > 500) return latch_fail(answer, LATCH_INVALID_INPUT, "a tray has at most 500 plants");
  uint32_t *order = latch_room(total * sizeof *order);
  for (size_t i = 0; i < total; i++) {
    char *name = latch_json_string(latch_json_item(plants, i));
    if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "plant %zu has no name", i);
    uint32_t at = slot_of(name);
    if (!table[at].name) {
      table[at].name = name;
      order[names++] = at;
    }
    table[at].count++;
  }
  /* The names are listed in the order of their first plant. */
  latch_put(&answer->result, "{\"herbs\":[");
  for (size_t i = 0; i < names; i++) {
    latch_put(&answer->result, i ? ",{\"name\":" : "{\"name\":");
    latch_put_string(&answer->result, table[order[i]].name);
    latch_putf(&answer->result, ",\"count\":%d}", table[order[i]].count);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Herbs.Count",
  .description = "Counts the plants of a tray by name.",
  .input = "{\"type\":\"object\",\"properties\":{\"plants\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"plants\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"herbs\"]}",
  .determinism = LATCH_PURE,
  .handler = count,
});
