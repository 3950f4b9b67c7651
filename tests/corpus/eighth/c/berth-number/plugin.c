#include "latchwork.h"

enum { BERTHS = 24 };

/* Gives a boat the first berth that is free. */
static bool assign(latch_json args, latch_answer *answer) {
  char *boat = latch_json_string(latch_json_member(args, "boat"));
  if (!boat || !*boat) return latch_fail(answer, LATCH_INVALID_INPUT, "boat is missing");
  for (int number = 1; number <= BERTHS; number++) {
    char place[32], *holder;
    snprintf(place, sizeof place, "berth:%d", number);
    if (!latch_kv_get(answer, place, &holder)) return false;
    if (holder) continue;
    if (!latch_kv_set(answer, place, boat)) return false;
    latch_putf(&answer->result, "{\"berth\":%d}", number);
    return true;
  }
  return latch_fail(answer, LATCH_POLICY_DENIED, "the marina is full");
}

LATCH_PLUGIN({
  .name = "Berth.Assign",
  .description = "Gives a boat the first free berth.",
  .effects = LATCH_INTERNAL_WRITE,
  .input = "{\"type\":\"object\",\"required\":[\"boat\"],\"properties\":{\"boat\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"berth\"],\"properties\":{\"berth\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":24}}}",
  .handler = assign,
});
