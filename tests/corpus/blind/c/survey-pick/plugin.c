#include "latchwork.h"

static uint64_t state;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static void seed(const char *text) {
  state = 0xcbf29ce484222325u;
  for (const char *c = text; *c; c++) state = (state ^ (unsigned char)*c) * 0x100000001b3u;
  if (!state) state = 1;
}

static bool pick(latch_json input, latch_answer *answer) {
  char *survey = latch_json_string(latch_json_member(input, "survey"));
  latch_json homes = latch_json_member(input, "households");
  int64_t size;
  size_t count = latch_json_count(homes);
  if (!survey) return latch_fail(answer, LATCH_INVALID_INPUT, "survey is not a text");
  if (!latch_json_integer(latch_json_member(input, "size"), &size) || size < 0 || size > (int64_t)count)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the sample is larger than the list of %zu households", count);

  size_t *order = calloc(count + 1, sizeof *order);
  if (!order) abort();
  for (size_t i = 0; i < count; i++) order[i] = i;
  seed(survey);
  for (size_t i = count; i > 1; i--) {
    size_t other = (size_t)(next() % i), kept = order[i - 1];
    order[i - 1] = order[other];
    order[other] = kept;
  }
  latch_put(&answer->result, "{\"sample\":[");
  for (int64_t i = 0; i < size; i++) {
    char *home = latch_json_string(latch_json_item(homes, order[i]));
    if (!home) return latch_fail(answer, LATCH_INVALID_INPUT, "household %zu is not a text", order[i] + 1);
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, home);
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "SurveyPick.Draw",
  .description = "Draws the households of a survey.",
  .input = "{\"type\":\"object\",\"properties\":{\"survey\":{\"type\":\"string\"},\"size\":{\"type\":\"integer\"},"
           "\"households\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"survey\",\"size\",\"households\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"sample\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},\"required\":[\"sample\"]}",
  .determinism = LATCH_PURE,
  .handler = pick,
});
