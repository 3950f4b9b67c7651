#include "latchwork.h"

enum { TRIES = 40, LARGEST = 1000 };

typedef struct {
  double x, y, radius;
} chip;

/* The generator is seeded by the input, so equal input gives an equal floor. */
static uint64_t state;
static uint32_t draw(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)(state >> 32);
}
static double fraction(void) { return (draw() >> 8) / 16777216.0; }

/* A table of computed areas by diameter in millimetres. It is filled while it is needed. */
static double areas[32];
static double area(int diameter) {
  if (areas[diameter] == 0) areas[diameter] = diameter * diameter * 0.785398163397448;
  return areas[diameter];
}

static bool is_clear(const chip *chips, size_t count, chip one) {
  for (size_t i = 0; i < count; i++) {
    double dx = chips[i].x - one.x, dy = chips[i].y - one.y, apart = chips[i].radius + one.radius;
    if (dx * dx + dy * dy < apart * apart) return false;
  }
  return true;
}

static bool scatter(latch_json input, latch_answer *answer) {
  int64_t seed, wanted, side;
  if (!latch_json_integer(latch_json_member(input, "seed"), &seed) || !latch_json_integer(latch_json_member(input, "chips"), &wanted) ||
      !latch_json_integer(latch_json_member(input, "side_mm"), &side))
    return latch_fail(answer, LATCH_INVALID_INPUT, "seed, chips and side_mm are needed");
  if (wanted > LARGEST) return latch_fail(answer, LATCH_INVALID_INPUT, "a tile has at most %d chips", LARGEST);
  state = (uint64_t)seed * 2654435761u + 88172645463325252u;

  chip *chips = latch_room((size_t)wanted * sizeof *chips);
  size_t placed = 0;
  double covered = 0;
  for (int64_t i = 0; i < wanted; i++) {
    int diameter = 4 + (int)(draw() % 20);
    /* A chip that finds no place after some tries is left out. */
    for (int attempt = 0; attempt < TRIES; attempt++) {
      chip one = { fraction() * (double)side, fraction() * (double)side, diameter / 2.0 };
      if (!is_clear(chips, placed, one)) continue;
      chips[placed++] = one;
      covered += area(diameter);
      break;
    }
  }

  latch_putf(&answer->result, "{\"placed\":%zu,\"covered\":%.4f,\"chips\":[", placed, covered / (double)(side * side));
  for (size_t i = 0; i < placed; i++)
    latch_putf(&answer->result, "%s[%.1f,%.1f,%.1f]", i ? "," : "", chips[i].x, chips[i].y, chips[i].radius);
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Terrazzo.Scatter",
  .description = "Scatters marble chips over a terrazzo tile.",
  .input = "{\"type\":\"object\",\"properties\":{\"seed\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000000000},"
           "\"chips\":{\"type\":\"integer\",\"minimum\":0},\"side_mm\":{\"type\":\"integer\",\"minimum\":50,\"maximum\":2000}},"
           "\"required\":[\"seed\",\"chips\",\"side_mm\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"placed\",\"covered\",\"chips\"]}",
  .handler = scatter,
});
