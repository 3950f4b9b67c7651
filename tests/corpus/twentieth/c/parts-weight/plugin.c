/* Parts.Weigh: weighs an assembly, and lists the weight of each kind of part that it contains. */
#include "latchwork.h"

enum { KINDS = 400, LONGEST = 100000 };

/* The kinds of parts that were found so far, in the order in which they appear. */
static struct {
  char *name;
  int64_t count, grams;
} kinds[KINDS];
static size_t found;

/* Adds a part to its kind. Returns false if there are too many kinds. */
static bool add(char *name, int64_t count, int64_t grams) {
  size_t i = 0;
  while (i < found && strcmp(kinds[i].name, name) != 0) i++;
  if (i == KINDS) return false;
  if (i == found) {
    kinds[found++].name = name;
    kinds[i].count = kinds[i].grams = 0;
  }
  kinds[i].count += count;
  kinds[i].grams += count * grams;
  return true;
}

static latch_json next(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

/* Adds a part and the parts inside it. `times` is the number of these parts in the whole assembly. */
static bool weigh(latch_json part, int64_t times, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(part, "name"));
  int64_t grams, count = 1;
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "a part has no name");
  if (!latch_json_integer(latch_json_member(part, "grams"), &grams) || grams < 0 || grams > 1000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s has no weight from 0 to 1000000 grams", name);
  latch_json given = latch_json_member(part, "count");
  if (given.at && (!latch_json_integer(given, &count) || count < 1 || count > 1000))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the count of %s is not from 1 to 1000", name);
  times *= count;
  if (times > 1000000) return latch_fail(answer, LATCH_INVALID_INPUT, "there are more than a million of %s", name);
  if (!add(name, times, grams)) return latch_fail(answer, LATCH_INVALID_INPUT, "there are more than %d kinds", KINDS);
  latch_json parts = latch_json_member(part, "parts");
  if (latch_json_count(parts) == 0) return true;
  for (latch_json inner = latch_json_item(parts, 0); inner.at; inner = next(inner))
    if (!weigh(inner, times, answer)) return false;
  return true;
}

static bool list(latch_json input, latch_answer *answer) {
  if (strlen(input.at) > LONGEST) return latch_fail(answer, LATCH_INVALID_INPUT, "the assembly is too large to weigh");
  found = 0;
  if (!weigh(latch_json_member(input, "assembly"), 1, answer)) return false;
  int64_t total = 0;
  latch_put(&answer->result, "{\"kinds\":{");
  for (size_t i = 0; i < found; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, kinds[i].name);
    latch_putf(&answer->result, ":{\"count\":%lld,\"grams\":%lld}", (long long)kinds[i].count,
               (long long)kinds[i].grams);
    total += kinds[i].grams;
  }
  latch_putf(&answer->result, "},\"grams\":%lld}", (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Parts.Weigh",
  .description = "Weighs an assembly and lists its kinds of parts.",
  .input = "{\"type\":\"object\",\"properties\":{\"assembly\":{\"type\":\"object\"}},"
           "\"required\":[\"assembly\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"kinds\",\"grams\"]}",
  .handler = list,
});
