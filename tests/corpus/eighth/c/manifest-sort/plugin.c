#include "latchwork.h"

/* Orders the lines of a freight manifest: heavy goods first, then by article. */
typedef struct {
  const char *article;
  int64_t kilos;
} line;

static int heavier(const void *left, const void *right) {
  const line *a = left, *b = right;
  if (a->kilos != b->kilos) return a->kilos < b->kilos ? 1 : -1;
  if (a->article == b->article) return 0;
  return a->article < b->article ? -1 : 1;
}

static bool sort(latch_json input, latch_answer *answer) {
  latch_json given = latch_json_member(input, "lines");
  size_t count = latch_json_count(given);
  line *lines = latch_room(count * sizeof *lines);
  for (size_t i = 0; i < count; i++) {
    latch_json one = latch_json_item(given, i);
    lines[i].article = latch_json_string(latch_json_member(one, "article"));
    if (!lines[i].article || !latch_json_integer(latch_json_member(one, "kilos"), &lines[i].kilos))
      return latch_fail(answer, LATCH_INVALID_INPUT, "line %zu needs an article and whole kilos", i + 1);
  }
  qsort(lines, count, sizeof *lines, heavier);
  latch_put(&answer->result, "{\"order\":[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, lines[i].article);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Manifest.Sort",
  .description = "Orders the lines of a freight manifest for loading.",
  .input = "{\"type\":\"object\",\"required\":[\"lines\"],\"properties\":{\"lines\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
           "\"required\":[\"article\",\"kilos\"],\"properties\":{\"article\":{\"type\":\"string\"},\"kilos\":{\"type\":\"integer\"}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"order\"],\"properties\":{\"order\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
  .handler = sort,
});
