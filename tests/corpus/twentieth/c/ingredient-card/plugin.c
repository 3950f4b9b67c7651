/* Ingredient.Total: adds up the ingredients of a dish for the card that hangs in the kitchen. */
#include "latchwork.h"

typedef struct {
  char *name;
  int64_t grams;
  bool allergen;
} line;

/* Returns true if the kitchen has to mark the ingredient on the card. */
static bool marked(const char *name) {
  static const char *marks[] = { "butter", "milk", "cream", "egg", "flour", "almond", "hazelnut", "celery", "mustard" };
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strstr(name, marks[i])) return true;
  return false;
}

/* Reads one line of the recipe. Returns false if the line has no name or no weight. */
static bool read_line(latch_json from, line *into) {
  into->name = latch_json_string(latch_json_member(from, "name"));
  if (!into->name || !*into->name) return false;
  if (!latch_json_integer(latch_json_member(from, "grams"), &into->grams)) return false;
  into->allergen = marked(into->name);
  return true;
}

static bool total(latch_json input, latch_answer *answer) {
  char *dish = latch_json_string(latch_json_member(input, "dish"));
  latch_json lines = latch_json_member(input, "lines");
  int64_t portions;
  if (!dish || !*dish) return latch_fail(answer, LATCH_INVALID_INPUT, "the dish has no name");
  if (!latch_json_integer(latch_json_member(input, "portions"), &portions) || portions < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s is for no portions", dish);
  size_t count = latch_json_count(lines);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s has no ingredients", dish);

  latch_text grams = { 0 };
  int64_t sum = 0;
  int allergens = 0;
  for (size_t i = 0; i < count; i++) {
    line one;
    if (!read_line(latch_json_item(lines, i), &one))
      return latch_fail(answer, LATCH_INVALID_INPUT, "line %zu of %s has no name or no weight", i + 1, dish);
    if (i) latch_put(&grams, ",");
    latch_put_string(&grams, one.name);
    latch_putf(&grams, ":%lld", (long long)(one.grams * portions));
    sum += one.grams * portions;
    allergens += one.allergen;
  }

  latch_put(&answer->result, "{\"dish\":");
  latch_put_string(&answer->result, dish);
  latch_putf(&answer->result, ",\"portions\":%lld,\"grams\":{%s}", (long long)portions, grams.bytes);
  latch_putf(&answer->result, ",\"total\":%lld,\"allergens\":%d}", (long long)sum, allergens);
  return true;
}

LATCH_PLUGIN({
  .name = "Ingredient.Total",
  .description = "Adds up the ingredients of a dish for a number of portions.",
  .input = "{\"type\":\"object\",\"properties\":{\"dish\":{\"type\":\"string\"},"
           "\"portions\":{\"type\":\"integer\",\"maximum\":1000},"
           "\"lines\":{\"type\":\"array\",\"maxItems\":100,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"name\":{\"type\":\"string\"},\"grams\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"name\",\"grams\"],\"additionalProperties\":false}}},"
           "\"required\":[\"dish\",\"portions\",\"lines\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"dish\",\"portions\",\"grams\",\"total\",\"allergens\"]}",
  .handler = total,
});
