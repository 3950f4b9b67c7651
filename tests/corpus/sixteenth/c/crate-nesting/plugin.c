/* Crate.Weigh: weighs a crate with the crates inside it. */
#include "latchwork.h"

enum { SIZES = 9, LIGHTEST = 400, LONGEST = 60000 };

/* Weights of empty crates by size, in grams. A size that was not used yet has 0. */
static int64_t tares[SIZES];

/* Weights and counts of a crate with everything in it. */
typedef struct {
  int64_t grams, heaviest;
  int crates, levels;
} load;

/* Returns the weight of an empty crate. Each size is a third heavier than the one below it. */
static int64_t tare(int size) {
  if (tares[size] == 0) tares[size] = size == 0 ? LIGHTEST : tare(size - 1) * 4 / 3;
  return tares[size];
}

/* Returns the item after this one, or a missing value at the end of the array. */
static latch_json next_item(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

/* Adds a crate, and the crates inside it, to the load. */
static bool weigh(latch_json crate, int level, load *sum, latch_answer *answer) {
  int64_t size, goods;
  latch_json inside = latch_json_member(crate, "inside");
  if (!latch_json_integer(latch_json_member(crate, "size"), &size) || size < 0 || size >= SIZES)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a crate at level %d has no size from 0 to %d", level, SIZES - 1);
  if (!latch_json_integer(latch_json_member(crate, "goods"), &goods) || goods < 0 || goods > 5000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a crate at level %d has no weight of goods in grams", level);
  if (!latch_json_is_null(inside) && !latch_json_is(inside, '['))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the crates inside a crate at level %d are no list", level);

  int64_t before = sum->grams;
  sum->grams += tare((int)size) + goods;
  sum->crates++;
  if (level > sum->levels) sum->levels = level;
  for (latch_json item = latch_json_item(inside, 0); item.at; item = next_item(item))
    if (!weigh(item, level + 1, sum, answer)) return false;
  if (level > 1 && sum->grams - before > sum->heaviest) sum->heaviest = sum->grams - before;
  return true;
}

static bool weigh_crate(latch_json input, latch_answer *answer) {
  load sum = { 0 };
  if (strlen(input.at) > LONGEST) return latch_fail(answer, LATCH_INVALID_INPUT, "the packing list is too long");
  if (!weigh(latch_json_member(input, "crate"), 1, &sum, answer)) return false;
  latch_log(LATCH_INFO, "%d crates, %lld g", sum.crates, (long long)sum.grams);
  latch_putf(&answer->result, "{\"grams\":%lld,\"crates\":%d,\"levels\":%d,\"heaviest_inside\":%lld}",
             (long long)sum.grams, sum.crates, sum.levels, (long long)sum.heaviest);
  return true;
}

LATCH_PLUGIN({
  .name = "Crate.Weigh",
  .description = "Weighs a crate with the crates inside it.",
  .input = "{\"type\":\"object\",\"required\":[\"crate\"],\"properties\":{\"crate\":{\"type\":\"object\"}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"grams\",\"crates\",\"levels\",\"heaviest_inside\"]}",
  .handler = weigh_crate,
});
