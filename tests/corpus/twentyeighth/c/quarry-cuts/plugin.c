/* Chooses the slabs to cut from a block of stone: the best total price within the length of the block. */
#include "latchwork.h"

#include <time.h>

enum { LONGEST = 2000, BUSY = 12 };

typedef struct {
  char *name;
  int64_t length, price;
} slab;

static double milliseconds(struct timespec from, struct timespec to) {
  return (double)(to.tv_sec - from.tv_sec) * 1e3 + (double)(to.tv_nsec - from.tv_nsec) / 1e6;
}

/* best[l] is the best price within length l, and last[l] the slab that was cut last for it, or -1. */
static void fill(const slab *slabs, size_t count, int64_t length, int64_t *best, int *last) {
  for (int64_t l = 0; l <= length; l++) {
    best[l] = l ? best[l - 1] : 0;
    last[l] = -1;
    for (size_t i = 0; i < count; i++) {
      if (slabs[i].length > l || best[l - slabs[i].length] + slabs[i].price <= best[l]) continue;
      best[l] = best[l - slabs[i].length] + slabs[i].price;
      last[l] = (int)i;
    }
  }
}

static bool cut(latch_json input, latch_answer *answer) {
  int64_t length;
  if (!latch_json_integer(latch_json_member(input, "length_cm"), &length) || length < 1 || length > LONGEST)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the block has no length from 1 to %d cm", LONGEST);
  latch_json list = latch_json_member(input, "slabs");
  size_t count = latch_json_count(list);
  slab *slabs = latch_room(count * sizeof *slabs);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    slabs[i].name = latch_json_string(latch_json_member(item, "name"));
    if (!slabs[i].name || !latch_json_integer(latch_json_member(item, "length_cm"), &slabs[i].length) ||
        !latch_json_integer(latch_json_member(item, "price_cents"), &slabs[i].price) || slabs[i].length < 1 || slabs[i].price < 0)
      return latch_fail(answer, LATCH_INVALID_INPUT, "slab %zu is incomplete", i + 1);
  }

  int64_t *best = latch_room((size_t)(length + 1) * sizeof *best);
  int *last = latch_room((size_t)(length + 1) * sizeof *last);
  if (count >= BUSY) {
    /* Large catalogues were slow in the past: keep an eye on them. */
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    fill(slabs, count, length, best, last);
    clock_gettime(CLOCK_MONOTONIC, &to);
    latch_log(LATCH_DEBUG, "%zu slabs, %lld cm: %.1f ms", count, (long long)length, milliseconds(from, to));
  } else {
    fill(slabs, count, length, best, last);
  }

  latch_putf(&answer->result, "{\"price_cents\":%lld,\"cuts\":[", (long long)best[length]);
  int64_t left = length;
  for (bool first = true; left > 0; ) {
    if (last[left] < 0) {
      left--;
      continue;
    }
    latch_put(&answer->result, first ? "" : ",");
    latch_put_string(&answer->result, slabs[last[left]].name);
    left -= slabs[last[left]].length;
    first = false;
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Block.Cut",
  .description = "Chooses the slabs to cut from a block of stone.",
  .input = "{\"type\":\"object\",\"required\":[\"length_cm\",\"slabs\"],\"properties\":{\"length_cm\":{\"type\":\"integer\"},"
           "\"slabs\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"price_cents\",\"cuts\"]}",
  .handler = cut,
});
