#include "latchwork.h"

/* Ranks the hides of a delivery by area, largest first. Hides of one area stay in the order of the delivery. */
typedef struct {
  char *mark;
  int64_t area;
} hide;

static hide *hide_of(latch_json one) {
  hide *made = latch_room(sizeof *made);
  made->mark = latch_json_string(latch_json_member(one, "mark"));
  latch_json_integer(latch_json_member(one, "area"), &made->area);
  return made;
}

static int by_area(const void *left, const void *right) {
  const hide *a = *(hide *const *)left, *b = *(hide *const *)right;
  if (a->area != b->area) return a->area < b->area ? 1 : -1;
  /* qsort is not stable: the earlier hide first. */
  return a < b ? -1 : a > b;
}

static bool rank(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "hides");
  size_t count = latch_json_count(list);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the delivery has no hides");
  hide **hides = latch_room(count * sizeof *hides);
  int64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    hides[i] = hide_of(latch_json_item(list, i));
    total += hides[i]->area;
  }
  qsort(hides, count, sizeof *hides, by_area);
  latch_put(&answer->result, "{\"ranking\":[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, hides[i]->mark);
  }
  latch_putf(&answer->result, "],\"area\":%lld}", (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Tannery.Rank",
  .description = "Ranks the hides of a delivery by area.",
  .input = "{\"type\":\"object\",\"properties\":{\"hides\":{\"type\":\"array\",\"maxItems\":300,\"items\":{\"type\":\"object\","
           "\"properties\":{\"mark\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9 /-]{1,60}$\"},"
           "\"area\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":900}},\"required\":[\"mark\",\"area\"],\"additionalProperties\":false}}},"
           "\"required\":[\"hides\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ranking\",\"area\"]}",
  .handler = rank,
});
