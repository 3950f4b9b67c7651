#include "latchwork.h"

#include <ctype.h>

typedef struct {
  char *name;
  int64_t grams;
} total;

static int by_name(const void *left, const void *right) {
  return strcmp(((const total *)left)->name, ((const total *)right)->name);
}

/* Removes spaces at both ends. */
static char *trimmed(char *text) {
  while (isspace((unsigned char)*text)) text++;
  size_t len = strlen(text);
  while (len && isspace((unsigned char)text[len - 1])) text[--len] = 0;
  return text;
}

static char *lower(char *text) {
  for (char *c = text; *c; c++) *c = (char)tolower((unsigned char)*c);
  return text;
}

static bool add(latch_json input, latch_answer *answer) {
  latch_json items = latch_json_member(input, "items");
  int64_t guests;
  if (!latch_json_integer(latch_json_member(input, "guests"), &guests)) guests = 1;
  size_t count = latch_json_count(items), made = 0;
  if (!count) return latch_fail(answer, LATCH_INVALID_INPUT, "the list has no items");
  total *totals = latch_room(count * sizeof *totals);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(items, i);
    char *name = latch_json_string(latch_json_member(item, "ingredient"));
    int64_t grams;
    if (!name || !*(name = trimmed(name)))
      return latch_fail(answer, LATCH_INVALID_INPUT, "item %zu has no ingredient", i + 1);
    if (!latch_json_integer(latch_json_member(item, "grams"), &grams))
      return latch_fail(answer, LATCH_INVALID_INPUT, "item %zu has no grams", i + 1);
    size_t k = 0;
    while (k < made && strcmp(totals[k].name, name) != 0) k++;
    if (k == made) totals[made++] = (total){ .name = name };
    totals[k].grams += grams * guests;
  }
  qsort(totals, made, sizeof *totals, by_name);

  int64_t sum = 0;
  latch_put(&answer->result, "{\"totals\":{");
  for (size_t i = 0; i < made; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, lower(totals[i].name));
    latch_putf(&answer->result, ":%lld", (long long)totals[i].grams);
    sum += totals[i].grams;
  }
  latch_putf(&answer->result, "},\"grams\":%lld}", (long long)sum);
  return true;
}

LATCH_PLUGIN({
  .name = "Shopping.Add",
  .description = "Adds up the ingredients of several recipes for a number of guests.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"guests\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
           "\"items\":{\"type\":\"array\",\"maxItems\":150,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"ingredient\":{\"type\":\"string\",\"maxLength\":60},"
           "\"grams\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"ingredient\",\"grams\"],\"additionalProperties\":false}}},"
           "\"required\":[\"items\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"totals\":{\"type\":\"object\","
            "\"additionalProperties\":{\"type\":\"integer\",\"minimum\":0}},\"grams\":{\"type\":\"integer\"}},"
            "\"required\":[\"totals\",\"grams\"]}",
  .handler = add,
});
