/* Spreads labels around a circle. The start angle is shuffled by a generator with a fixed seed, so that equal labels
 * always get equal angles. Computed angles are kept in a table for the rest of the run. */
#include "latchwork.h"

enum { MOST = 360 };

static double table[MOST];
static bool ready[MOST];

static double angle(int step, int count) {
  if (!ready[step]) {
    table[step] = 360.0 * step / count;
    ready[step] = true;
  }
  return table[step];
}

typedef struct {
  char *label;
  int draw, at;
} entry;

/* Equal draws are ordered by their place in the input. */
static int by_draw(const void *a, const void *b) {
  const entry *x = a, *y = b;
  return x->draw != y->draw ? (x->draw < y->draw ? -1 : 1) : x->at - y->at;
}

static bool spread(latch_json input, latch_answer *answer) {
  latch_json labels = latch_json_member(input, "labels");
  size_t count = latch_json_count(labels);
  if (count == 0 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to %d labels, please", MOST);
  memset(ready, 0, sizeof ready);
  entry *entries = latch_room(count * sizeof *entries);
  srand(20260105);
  for (size_t i = 0; i < count; i++) {
    char *label = latch_json_string(latch_json_item(labels, i));
    if (!label) return latch_fail(answer, LATCH_INVALID_INPUT, "label %zu is no text", i);
    entries[i] = (entry){ label, rand() % 16, (int)i };
  }
  qsort(entries, count, sizeof *entries, by_draw);
  latch_put(&answer->result, "{\"angles\":[");
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i ? ",{\"label\":" : "{\"label\":");
    latch_put_string(&answer->result, entries[i].label);
    latch_put(&answer->result, ",\"angle\":");
    latch_put_number(&answer->result, angle((int)i, (int)count));
    latch_put(&answer->result, "}");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Circle.Spread",
  .description = "Spreads labels around a circle.",
  .input = "{\"type\":\"object\",\"properties\":{\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"labels\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"angles\":{\"type\":\"array\"}},\"required\":[\"angles\"]}",
  .determinism = LATCH_PURE,
  .handler = spread,
});
