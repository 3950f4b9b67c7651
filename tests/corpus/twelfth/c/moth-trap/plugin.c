/* Moth.Tally: counts the moths of a night by species, with a diversity number. */
#include "latchwork.h"

enum { SLOTS = 512, SPECIES = 200 };

/* Names, each once, so that equal names have equal pointers. */
static char *names[SPECIES];
static size_t known;

/* Counts by name: a table with open addressing. */
static struct {
  const char *name;
  unsigned count;
} table[SLOTS];

static const char *intern(char *name) {
  for (size_t i = 0; i < known; i++)
    if (strcmp(names[i], name) == 0) return names[i];
  return known < SPECIES ? names[known++] = name : NULL;
}

static unsigned *slot(const char *name) {
  size_t at = ((uintptr_t)name >> 3) * 2654435761u % SLOTS;
  while (table[at].name && table[at].name != name) at = (at + 1) % SLOTS;
  table[at].name = name;
  return &table[at].count;
}

static bool tally(latch_json input, latch_answer *answer) {
  latch_json moths = latch_json_member(input, "moths");
  size_t total = latch_json_count(moths);
  memset(table, 0, sizeof table);
  known = 0;
  for (size_t i = 0; i < total; i++) {
    char *given = latch_json_string(latch_json_item(moths, i));
    if (!given || !*given) return latch_fail(answer, LATCH_INVALID_INPUT, "moth %zu has no name", i);
    const char *name = intern(given);
    if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "more than %d species in one night", SPECIES);
    ++*slot(name);
  }
  unsigned long long pairs = 0;
  latch_put(&answer->result, "{\"species\":[");
  for (size_t i = 0, put = 0; i < SLOTS; i++) {
    if (!table[i].name) continue;
    latch_put(&answer->result, put++ ? ",{\"name\":" : "{\"name\":");
    latch_put_string(&answer->result, table[i].name);
    latch_putf(&answer->result, ",\"count\":%u}", table[i].count);
    pairs += (unsigned long long)table[i].count * (table[i].count - 1);
  }
  /* Simpson's index: how likely two moths of the night are of different species, in thousandths. */
  unsigned long long all = (unsigned long long)total * (total ? total - 1 : 0);
  latch_putf(&answer->result, "],\"total\":%zu,\"diversity\":%llu}", total, all ? 1000 - pairs * 1000 / all : 0);
  return true;
}

LATCH_PLUGIN({
  .name = "Moth.Tally",
  .description = "Counts the moths of a night by species.",
  .input = "{\"type\":\"object\",\"properties\":{\"moths\":{\"type\":\"array\",\"maxItems\":500,"
           "\"items\":{\"type\":\"string\",\"maxLength\":80}}},\"required\":[\"moths\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"species\",\"total\",\"diversity\"]}",
  .handler = tally,
});
