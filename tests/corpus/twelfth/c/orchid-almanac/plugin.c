/* Orchid.Next: tells which orchids of a collection bloom on a day of the year, and which one opens next. */
#include "latchwork.h"

typedef struct {
  char *name;
  int64_t first, last;
} bloom;

/* Days from `day` until the bloom opens, within the same year. */
static int64_t ahead(const bloom *of, int64_t day) { return of->first > day ? of->first - day : -1; }

static bool next(latch_json input, latch_answer *answer) {
  int64_t day;
  latch_json blooms = latch_json_member(input, "blooms");
  if (!latch_json_integer(latch_json_member(input, "day"), &day))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the day is missing");

  char *soonest = NULL;
  int64_t wait = 0;
  latch_text open = { 0 };
  latch_put(&open, "[");
  size_t count = latch_json_count(blooms);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(blooms, i);
    bloom of = { .name = latch_json_string(latch_json_member(item, "orchid")) };
    if (!of.name || !latch_json_integer(latch_json_member(item, "first"), &of.first) ||
        !latch_json_integer(latch_json_member(item, "last"), &of.last))
      return latch_fail(answer, LATCH_INVALID_INPUT, "bloom %zu is incomplete", i);
    if (of.last < of.first) return latch_fail(answer, LATCH_INVALID_INPUT, "%s ends before it begins", of.name);
    if (of.first <= day && day <= of.last) {
      if (open.len > 1) latch_put(&open, ",");
      latch_put_string(&open, of.name);
    }
    int64_t days = ahead(&of, day);
    if (days > 0 && (!soonest || days < wait)) soonest = of.name, wait = days;
  }

  latch_putf(&answer->result, "{\"open\":%s],\"next\":{\"orchid\":", open.bytes);
  if (soonest) latch_put_string(&answer->result, soonest);
  else latch_put(&answer->result, "null");
  latch_putf(&answer->result, ",\"in_days\":%lld}}", (long long)wait);
  return true;
}

LATCH_PLUGIN({
  .name = "Orchid.Next",
  .description = "Tells which orchids bloom on a day of the year.",
  .input = "{\"type\":\"object\",\"properties\":{\"day\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":366},"
           "\"blooms\":{\"type\":\"array\",\"maxItems\":300,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"orchid\":{\"type\":\"string\"},\"first\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":366},"
           "\"last\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":366}},\"required\":[\"orchid\",\"first\",\"last\"]}}},"
           "\"required\":[\"day\",\"blooms\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"open\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"
            "\"next\":{\"type\":\"object\",\"properties\":{\"orchid\":{\"type\":\"string\"},"
            "\"in_days\":{\"type\":\"integer\"}},\"required\":[\"orchid\",\"in_days\"]}},\"required\":[\"open\",\"next\"]}",
  .handler = next,
});
