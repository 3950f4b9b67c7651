/* Team.Order: the order in which teams present. Equal lists of teams give equal orders. */
#include "latchwork.h"

enum { MOST = 100 };

/* FNV-1a with 32 bits. */
static unsigned hash(unsigned value, const char *text) {
  for (; *text; text++) value = (value ^ (unsigned char)*text) * 0x01000193U;
  return value;
}

static bool order(latch_json input, latch_answer *answer) {
  char *event = latch_json_string(latch_json_member(input, "event"));
  latch_json teams = latch_json_member(input, "teams");
  size_t count = latch_json_count(teams);
  if (!event) return latch_fail(answer, LATCH_INVALID_INPUT, "event is missing");
  if (count < 1 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "%zu teams: 1 to %d are possible", count, MOST);

  char *names[MOST];
  unsigned seed = hash(0x811c9dc5U, event);
  for (size_t i = 0; i < count; i++) {
    names[i] = latch_json_string(latch_json_item(teams, i));
    if (!names[i] || !*names[i]) return latch_fail(answer, LATCH_INVALID_INPUT, "team %zu has no name", i);
    seed = hash(seed, names[i]);
  }
  /* The seed follows from the input alone. */
  srand(seed);
  for (size_t i = count - 1; i > 0; i--) {
    size_t other = (size_t)rand() % (i + 1);
    char *name = names[i];
    names[i] = names[other];
    names[other] = name;
  }
  latch_put(&answer->result, "{\"order\":[");
  for (size_t i = 0; i < count; i++) {
    latch_put(&answer->result, i ? "," : "");
    latch_put_string(&answer->result, names[i]);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Team.Order",
  .description = "Puts teams into the order in which they present.",
  .input = "{\"type\":\"object\",\"properties\":{\"event\":{\"type\":\"string\"},\"teams\":{\"type\":\"array\","
           "\"items\":{\"type\":\"string\"}}},\"required\":[\"event\",\"teams\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"order\"]}",
  .determinism = LATCH_PURE,
  .handler = order,
});
