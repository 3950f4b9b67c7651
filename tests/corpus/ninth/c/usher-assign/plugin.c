#include "latchwork.h"

/* Sends the next group of guests to the usher who has the fewest guests so far. */

typedef struct {
  char *name;
  int64_t guests;
} usher;

/* Among ushers with equal numbers none is preferred. */
static size_t choose(const usher *ushers, size_t count) {
  size_t chosen = 0;
  uint32_t equal = 1;
  for (size_t i = 1; i < count; i++) {
    if (ushers[i].guests < ushers[chosen].guests) {
      chosen = i;
      equal = 1;
    } else if (ushers[i].guests == ushers[chosen].guests && latch_below(++equal) == 0) {
      chosen = i;
    }
  }
  return chosen;
}

static bool assign(latch_json input, latch_answer *answer) {
  latch_json list = latch_json_member(input, "ushers");
  int64_t group;
  if (!latch_json_integer(latch_json_member(input, "group"), &group) || group < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the group is empty");
  size_t count = latch_json_count(list);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no usher");

  usher *ushers = latch_room(count * sizeof *ushers);
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    ushers[i].name = latch_json_string(latch_json_member(item, "name"));
    if (!ushers[i].name || !latch_json_integer(latch_json_member(item, "guests"), &ushers[i].guests))
      return latch_fail(answer, LATCH_INVALID_INPUT, "usher %zu needs a name and a number of guests", i + 1);
  }

  size_t chosen = choose(ushers, count);
  latch_put(&answer->result, "{\"usher\":");
  latch_put_string(&answer->result, ushers[chosen].name);
  latch_putf(&answer->result, ",\"guests\":%lld}", (long long)(ushers[chosen].guests + group));
  return true;
}

LATCH_PLUGIN({
  .name = "Usher.Assign",
  .description = "Assigns a group of guests to the usher with the fewest guests.",
  .input = "{\"type\":\"object\",\"properties\":{\"group\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":500},"
           "\"ushers\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"name\":{\"type\":\"string\",\"maxLength\":60},\"guests\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"name\",\"guests\"]}}},\"required\":[\"group\",\"ushers\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"usher\":{\"type\":\"string\"},\"guests\":{\"type\":\"integer\"}},"
            "\"required\":[\"usher\",\"guests\"]}",
  .handler = assign,
});
