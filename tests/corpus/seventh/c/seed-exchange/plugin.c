#include "latchwork.h"

/* Ranks the members of a seed exchange by the packets that they offer. */
struct member {
  char *name;
  int64_t packets;
};

static int by_packets(const void *left, const void *right) {
  const struct member *a = *(struct member *const *)left, *b = *(struct member *const *)right;
  if (a->packets != b->packets) return a->packets < b->packets ? 1 : -1;
  return (a->name > b->name) - (a->name < b->name);
}

static bool rank(latch_json input, latch_answer *answer) {
  latch_json offers = latch_json_member(input, "offers");
  size_t count = latch_json_count(offers);
  struct member **list = latch_room(count * sizeof *list);
  for (size_t i = 0; i < count; i++) {
    latch_json offer = latch_json_item(offers, i);
    list[i] = latch_room(sizeof **list);
    list[i]->name = latch_json_string(latch_json_member(offer, "member"));
    if (!list[i]->name || !latch_json_integer(latch_json_member(offer, "packets"), &list[i]->packets))
      return latch_fail(answer, LATCH_INVALID_INPUT, "offer %zu needs a member and a number of packets", i);
  }
  qsort(list, count, sizeof *list, by_packets);

  latch_put(&answer->result, "{\"order\":[");
  for (size_t i = 0; i < count; i++) {
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, list[i]->name);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Seeds.Rank",
  .description = "Ranks members by the packets of seeds that they offer.",
  .input = "{\"type\":\"object\",\"properties\":{\"offers\":{\"type\":\"array\",\"maxItems\":200,\"items\":{\"type\":\"object\","
           "\"properties\":{\"member\":{\"type\":\"string\"},\"packets\":{\"type\":\"integer\",\"minimum\":0}},"
           "\"required\":[\"member\",\"packets\"]}}},\"required\":[\"offers\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"order\"]}",
  .handler = rank,
});
