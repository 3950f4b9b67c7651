/* Exhibit.Weigh: adds up the weight of an exhibit that consists of parts inside parts. */
#include "latchwork.h"

typedef struct {
  int64_t grams;
  int parts, deepest;
  latch_text heaviest;
  int64_t heaviest_grams;
} sums;

static const char *next(const char *at) {
  at = latch_json_space(latch_json_skip(at));
  return *at == ',' ? latch_json_space(at + 1) : at;
}

/* Adds a part and everything inside it. Returns false if a part has no name or no weight. */
static bool weigh(latch_json part, int level, sums *into, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(part, "name"));
  int64_t grams;
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "a part on level %d has no name", level);
  if (!latch_json_integer(latch_json_member(part, "grams"), &grams) || grams < 0 || grams > 50000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "%s has no weight between 0 and 50 tons", name);
  into->grams += grams;
  into->parts++;
  if (level > into->deepest) into->deepest = level;
  if (grams > into->heaviest_grams || into->parts == 1) {
    into->heaviest = (latch_text){ 0 };
    latch_put(&into->heaviest, name);
    into->heaviest_grams = grams;
  }
  latch_json inside = latch_json_member(part, "parts");
  if (latch_json_is_null(inside)) return true;
  if (!latch_json_is(inside, '[')) return latch_fail(answer, LATCH_INVALID_INPUT, "the parts of %s are no list", name);
  for (const char *at = latch_json_space(inside.at + 1); *at && *at != ']'; at = next(at))
    if (!weigh((latch_json){ at }, level + 1, into, answer)) return false;
  return true;
}

static bool sum_up(latch_json input, latch_answer *answer) {
  if (strlen(input.at) > 65536)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the description of the exhibit has more than 64 KiB");
  sums all = { 0 };
  if (!weigh(latch_json_member(input, "exhibit"), 1, &all, answer)) return false;
  int64_t bearing = 0;
  bool given = latch_json_integer(latch_json_member(input, "floor_grams"), &bearing);

  latch_putf(&answer->result, "{\"grams\":%lld,\"parts\":%d,", (long long)all.grams, all.parts);
  latch_putf(&answer->result, "\"levels\":%d,\"heaviest\":", all.deepest);
  latch_put_string(&answer->result, all.heaviest.bytes);
  const char *floor = !given ? "unknown" : all.grams <= bearing ? "bears it" : "too weak";
  latch_putf(&answer->result, ",\"floor\":\"%s\"}", floor);
  return true;
}

LATCH_PLUGIN({
  .name = "Exhibit.Weigh",
  .description = "Adds up the weight of an exhibit that consists of parts inside parts.",
  .input = "{\"type\":\"object\",\"required\":[\"exhibit\"],\"properties\":{\"exhibit\":{\"type\":\"object\"},"
           "\"floor_grams\":{\"type\":\"integer\",\"minimum\":0}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"grams\",\"parts\",\"levels\",\"heaviest\",\"floor\"],\"properties\":{"
            "\"grams\":{\"type\":\"integer\"},\"floor\":{\"enum\":[\"unknown\",\"bears it\",\"too weak\"]}}}",
  .handler = sum_up,
});
