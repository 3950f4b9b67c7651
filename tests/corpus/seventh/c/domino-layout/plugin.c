#include "latchwork.h"

struct tile {
  int64_t left, right;
};

static struct tile tiles[64];
/* Values of tiles that were computed before, by their two sides. 0: not computed yet. */
static int known[7][7];

static int value(const struct tile *tile) {
  int *kept = &known[tile->left][tile->right];
  if (!*kept) *kept = 1 + (int)(tile->left + tile->right) * 10 + (tile->left == tile->right ? 5 : 0);
  return *kept;
}

/* Dearest tile first; of two equal ones, the one that comes first in the input. */
static int dearest(const void *left, const void *right) {
  const struct tile *a = *(const struct tile *const *)left, *b = *(const struct tile *const *)right;
  int by = value(b) - value(a);
  long place_a = a - tiles, place_b = b - tiles;
  return by ? by : (place_a > place_b) - (place_a < place_b);
}

static bool lay(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "tiles");
  size_t count = latch_json_count(list);
  int64_t seed;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) || seed < 0 || seed > 1000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the seed is no number from 0 to 1000000");
  if (count > 64) return latch_fail(answer, LATCH_INVALID_INPUT, "more than 64 tiles");
  const struct tile *order[64];
  for (size_t i = 0; i < count; i++) {
    latch_json sides = latch_json_item(list, i);
    struct tile *tile = &tiles[i];
    if (!latch_json_integer(latch_json_item(sides, 0), &tile->left) || !latch_json_integer(latch_json_item(sides, 1), &tile->right) ||
        tile->left < 0 || tile->left > 6 || tile->right < 0 || tile->right > 6)
      return latch_fail(answer, LATCH_INVALID_INPUT, "tile %zu needs two sides from 0 to 6", i);
    order[i] = tile;
  }
  qsort(order, count, sizeof *order, dearest);

  srand((unsigned)seed);
  latch_put(&answer->result, "{\"row\":[");
  for (size_t i = 0; i < count; i++) {
    bool turned = rand() / 7 % 2;
    latch_putf(&answer->result, "%s{\"tile\":%ld,\"value\":%d,\"turned\":%s}", i ? "," : "", (long)(order[i] - tiles), value(order[i]),
               turned ? "true" : "false");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Domino.Lay",
  .description = "Lays domino tiles in a row, the dearest first, and turns some of them by a seed of the input.",
  .input = "{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\"},\"tiles\":{\"type\":\"array\",\"items\":{\"type\":\"array\"}}},"
           "\"required\":[\"seed\",\"tiles\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"row\":{\"type\":\"array\"}},\"required\":[\"row\"]}",
  .determinism = LATCH_PURE,
  .handler = lay,
});
