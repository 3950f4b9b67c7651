#include "latchwork.h"

/* Adds up a stash of yarn by colour. Strings and nodes live in one arena, and equal colours share one string. */

static char *arena;
static size_t arena_left;

static void *take(size_t size) {
  size_t gap = (8 - ((uintptr_t)arena & 7)) & 7;
  if (!arena || gap + size > arena_left) {
    arena_left = size + 8 > 65536 ? size + 8 : 65536;
    arena = latch_room(arena_left);
    gap = (8 - ((uintptr_t)arena & 7)) & 7;
  }
  char *made = arena + gap;
  arena = made + size;
  arena_left -= gap + size;
  return made;
}

typedef struct shade {
  struct shade *next;
  char *colour;
  double grams;
  size_t place; /* position of the first skein of this colour */
} shade;

enum { BUCKETS = 64 };

/* Grams of one unit. A unit is worked out once. */
static double grams_of(const char *unit) {
  static const char *units[] = { "g", "kg", "oz", "lb" };
  static double known[4];
  for (int i = 0; i < 4; i++) {
    if (strcmp(unit, units[i]) != 0) continue;
    if (known[i] == 0) known[i] = i == 0 ? 1 : i == 1 ? 1000 : i == 2 ? 453.59237 / 16 : 453.59237;
    return known[i];
  }
  return 0;
}

static shade *find(shade **buckets, const char *colour, size_t place, size_t *count) {
  uint32_t hash = 2166136261u;
  for (const char *c = colour; *c; c++) hash = (hash ^ (unsigned char)*c) * 16777619u;
  shade **at = &buckets[hash % BUCKETS];
  for (; *at; at = &(*at)->next)
    if ((*at)->colour == colour || strcmp((*at)->colour, colour) == 0) return *at;
  *at = take(sizeof **at);
  **at = (shade){ .colour = strcpy(take(strlen(colour) + 1), colour), .place = place };
  ++*count;
  return *at;
}

static int heavier_first(const void *left, const void *right) {
  const shade *a = *(shade *const *)left, *b = *(shade *const *)right;
  if (a->grams != b->grams) return a->grams > b->grams ? -1 : 1;
  return a->place < b->place ? -1 : a->place > b->place;
}

static bool sum(latch_json input, latch_answer *answer) {
  shade *buckets[BUCKETS] = { 0 };
  size_t count = 0, skeins = latch_json_count(latch_json_member(input, "skeins"));
  for (size_t i = 0; i < skeins; i++) {
    latch_json skein = latch_json_item(latch_json_member(input, "skeins"), i);
    char *colour = latch_json_string(latch_json_member(skein, "colour"));
    char *unit = latch_json_string(latch_json_member(skein, "unit"));
    double amount;
    if (!colour || !unit || grams_of(unit) == 0 || !latch_json_number(latch_json_member(skein, "amount"), &amount))
      return latch_fail(answer, LATCH_INVALID_INPUT, "skein %zu needs a colour, a unit and an amount", i + 1);
    find(buckets, colour, i, &count)->grams += amount * grams_of(unit);
    free(colour);
  }

  shade **all = latch_room(count * sizeof *all), **end = all;
  for (int i = 0; i < BUCKETS; i++)
    for (shade *s = buckets[i]; s; s = s->next) *end++ = s;
  qsort(all, count, sizeof *all, heavier_first);

  latch_put(&answer->result, "[");
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i ? ",{\"colour\":" : "{\"colour\":");
    latch_put_string(&answer->result, all[i]->colour);
    latch_putf(&answer->result, ",\"grams\":%.1f}", all[i]->grams);
  }
  latch_put(&answer->result, "]");
  return true;
}

LATCH_PLUGIN({
  .name = "Stash.Sum",
  .description = "Adds up a stash of yarn by colour.",
  .input = "{\"type\":\"object\",\"properties\":{\"skeins\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\","
           "\"properties\":{\"colour\":{\"type\":\"string\",\"maxLength\":60},\"unit\":{\"enum\":[\"g\",\"kg\",\"oz\",\"lb\"]},"
           "\"amount\":{\"type\":\"number\",\"minimum\":0,\"maximum\":100000}},\"required\":[\"colour\",\"unit\",\"amount\"]}}},"
           "\"required\":[\"skeins\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"colour\",\"grams\"]}}",
  .determinism = LATCH_PURE,
  .handler = sum,
});
