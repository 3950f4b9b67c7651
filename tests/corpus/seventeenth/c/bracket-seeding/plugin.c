/* Bracket.Seed: puts the players of a knockout round into a mixed order, by the number that the referee drew. */
#include "latchwork.h"

enum { MOST = 256 };

static const char *next(const char *at) {
  at = latch_json_space(latch_json_skip(at));
  return *at == ',' ? latch_json_space(at + 1) : at;
}

/* Mixes the names. The same number always gives the same order. */
static void mix(char **names, size_t count, unsigned number) {
  srand(number);
  for (size_t i = count; i > 1; i--) {
    size_t other = (size_t)rand() % i;
    char *held = names[i - 1];
    names[i - 1] = names[other];
    names[other] = held;
  }
}

/* Returns the number of places in the first round: the next power of two. */
static size_t places(size_t count) {
  size_t all = 2;
  while (all < count) all *= 2;
  return all;
}

static bool seed(latch_json input, latch_answer *answer) {
  int64_t number;
  if (!latch_json_integer(latch_json_member(input, "number"), &number))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the number of the referee is missing");
  char *names[MOST];
  size_t count = 0;
  latch_json players = latch_json_member(input, "players");
  for (const char *at = latch_json_space(players.at + 1); *at && *at != ']'; at = next(at)) {
    if (count == MOST) return latch_fail(answer, LATCH_INVALID_INPUT, "a round has at most %d players", MOST);
    names[count] = latch_json_string((latch_json){ at });
    if (!names[count] || !*names[count])
      return latch_fail(answer, LATCH_INVALID_INPUT, "player %zu has no name", count + 1);
    for (size_t i = 0; i < count; i++)
      if (strcmp(names[i], names[count]) == 0)
        return latch_fail(answer, LATCH_INVALID_INPUT, "%s is in the list twice", names[count]);
    count++;
  }
  if (count < 2) return latch_fail(answer, LATCH_INVALID_INPUT, "a round needs two players");
  mix(names, count, (unsigned)number);

  /* The first players have no opponent in this round if the round is not full. */
  size_t free_places = places(count) - count, at = 0;
  latch_put(&answer->result, "{\"byes\":[");
  for (; at < free_places; at++) {
    if (at) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, names[at]);
  }
  latch_put(&answer->result, "],\"matches\":[");
  for (size_t first = at; at + 1 < count; at += 2) {
    latch_put(&answer->result, at > first ? ",[" : "[");
    latch_put_string(&answer->result, names[at]);
    latch_put(&answer->result, ",");
    latch_put_string(&answer->result, names[at + 1]);
    latch_put(&answer->result, "]");
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Bracket.Seed",
  .description = "Puts the players of a knockout round into a mixed order, by the number that the referee drew.",
  .input = "{\"type\":\"object\",\"required\":[\"number\",\"players\"],\"properties\":{"
           "\"number\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":999999},"
           "\"players\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"byes\",\"matches\"],\"properties\":{"
            "\"byes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"matches\":{\"type\":\"array\"}}}",
  .handler = seed,
});
