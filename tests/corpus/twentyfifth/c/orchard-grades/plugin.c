#include "latchwork.h"

/* Sums the crates of a harvest by variety, heaviest variety first. Varieties of one weight are listed in the order in
 * which they first appear. */
enum { CRATES = 120, PLACES = 256 };

typedef struct {
  char *variety;
  int64_t kilos;
  size_t crates, first;
} line;

static line lines[CRATES];
static line *place[PLACES]; /* an open table over the text of the variety */

static line *line_of(char *variety, size_t *count) {
  uint32_t at = 2166136261u;
  for (const char *c = variety; *c; c++) at = (at ^ (unsigned char)*c) * 16777619u;
  for (at %= PLACES; place[at]; at = (at + 1) % PLACES)
    if (strcmp(place[at]->variety, variety) == 0) return place[at];
  line *made = &lines[*count];
  *made = (line){ variety, 0, 0, (*count)++ };
  return place[at] = made;
}

static int by_weight(const void *left, const void *right) {
  const line *a = left, *b = right;
  if (a->kilos != b->kilos) return a->kilos < b->kilos ? 1 : -1;
  return a->first < b->first ? -1 : a->first > b->first;
}

static bool grade(latch_json input, latch_answer *answer) {
  memset(place, 0, sizeof place);
  latch_json list = latch_json_member(input, "crates");
  size_t crates = latch_json_count(list), count = 0;
  for (size_t i = 0; i < crates; i++) {
    latch_json one = latch_json_item(list, i);
    char *variety = latch_json_string(latch_json_member(one, "variety"));
    if (!variety) return latch_fail(answer, LATCH_INVALID_INPUT, "the variety of crate %d is no text", (int)i + 1);
    int64_t kilos = 0;
    latch_json_integer(latch_json_member(one, "kilos"), &kilos);
    line *found = line_of(variety, &count);
    found->kilos += kilos;
    found->crates++;
  }
  qsort(lines, count, sizeof *lines, by_weight);
  latch_put(&answer->result, "{\"varieties\":[");
  for (size_t i = 0; i < count; i++) {
    latch_putf(&answer->result, "%s{\"variety\":", i ? "," : "");
    latch_put_string(&answer->result, lines[i].variety);
    latch_putf(&answer->result, ",\"kilos\":%lld,\"crates\":%d}", (long long)lines[i].kilos, (int)lines[i].crates);
  }
  latch_putf(&answer->result, "],\"crates\":%d}", (int)crates);
  latch_log(LATCH_DEBUG, "%d crates", (int)crates);
  return true;
}

LATCH_PLUGIN({
  .name = "Orchard.Grade",
  .description = "Sums the crates of a harvest by variety.",
  .input = "{\"type\":\"object\",\"properties\":{\"crates\":{\"type\":\"array\",\"maxItems\":120,\"items\":{\"type\":\"object\","
           "\"properties\":{\"variety\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
           "\"kilos\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":2000}},\"required\":[\"variety\",\"kilos\"],"
           "\"additionalProperties\":false}}},\"required\":[\"crates\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"varieties\",\"crates\"]}",
  .handler = grade,
});
