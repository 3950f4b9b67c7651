/* Ranks the members of an organisation by the number of managers above them. */
#include "latchwork.h"

enum { MOST = 2000 };

static int64_t manager[MOST];
static int rank[MOST];

/* Returns the rank of a member. The rank of a member without a manager is 0. */
static int ranked(int64_t member) {
  if (rank[member] >= 0) return rank[member];
  if (manager[member] < 0) rank[member] = 0;
  else rank[member] = 1 + ranked(manager[member]);
  return rank[member];
}

static bool run(latch_json input, latch_answer *answer) {
  latch_json managers = latch_json_member(input, "managers");
  size_t count = latch_json_count(managers);
  if (count == 0 || count > MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to %d members, please", MOST);
  for (size_t i = 0; i < count; i++) {
    int64_t above = -1;
    latch_json one = latch_json_item(managers, i);
    if (!latch_json_is_null(one) && (!latch_json_integer(one, &above) || above < 0 || above >= (int64_t)count))
      return latch_fail(answer, LATCH_INVALID_INPUT, "member %zu has no such manager", i);
    if (above == (int64_t)i) return latch_fail(answer, LATCH_INVALID_INPUT, "member %zu is their own manager", i);
    manager[i] = above;
    rank[i] = -1;
  }
  latch_put(&answer->result, "{\"ranks\":[");
  for (size_t i = 0; i < count; i++) latch_putf(&answer->result, "%s%d", i ? "," : "", ranked((int64_t)i));
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Staff.Rank",
  .description = "Ranks members by the number of managers above them.",
  .input = "{\"type\":\"object\",\"properties\":{\"managers\":{\"type\":\"array\","
           "\"items\":{\"type\":[\"integer\",\"null\"]}}},\"required\":[\"managers\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"ranks\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},"
            "\"required\":[\"ranks\"]}",
  .determinism = LATCH_PURE,
  .handler = run,
});
