#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

/* The largest sum that every reader of the result holds exactly. */
static const int64_t LARGEST = 9007199254740991;

typedef struct {
  int64_t pieces, levels;
  const char *problem;
} count;

static latch_json next_item(latch_json item) {
  const char *at = latch_json_space(latch_json_skip(item.at));
  return (latch_json){ *at == ',' ? latch_json_space(at + 1) : NULL };
}

/* Returns the cost in cents of one piece of a part with everything in it, or -1 with a problem. A part is nested as
 * deep as the input, which has at most 64 levels. */
static int64_t cost(latch_json part, int64_t times, int64_t level, count *counted) {
  int64_t own, needed;
  if (!latch_json_integer(latch_json_member(part, "cents"), &own) || own < 0) {
    counted->problem = "a part has no price";
    return -1;
  }
  if (level > counted->levels) counted->levels = level;
  if (counted->pieces > LARGEST - times) {
    counted->problem = "the device has too many pieces";
    return -1;
  }
  counted->pieces += times;
  latch_json parts = latch_json_member(part, "parts");
  if (parts.at && !latch_json_is(parts, '[')) {
    counted->problem = "the parts of a part are no list";
    return -1;
  }
  for (latch_json item = latch_json_item(parts, 0); item.at; item = next_item(item)) {
    if (!latch_json_integer(latch_json_member(item, "count"), &needed) || needed < 1) {
      counted->problem = "a part has no count";
      return -1;
    }
    if (times > LARGEST / needed) {
      counted->problem = "the device has too many pieces";
      return -1;
    }
    int64_t one = cost(item, times * needed, level + 1, counted);
    if (one < 0) return -1;
    if (one > (LARGEST - own) / needed) {
      counted->problem = "the device costs too much";
      return -1;
    }
    own += one * needed;
  }
  return own;
}

static bool price(latch_json input, latch_answer *answer) {
  count counted = { 0 };
  int64_t cents = cost(latch_json_member(input, "device"), 1, 1, &counted);
  if (cents < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "%s", counted.problem);
  latch_putf(&answer->result, "{\"cents\":%lld,\"pieces\":%lld,\"levels\":%lld}", (long long)cents, (long long)counted.pieces, (long long)counted.levels);
  return true;
}

LATCH_PLUGIN({
  .name = "Device.Price",
  .description = "Adds up the prices of a device and of all parts in it.",
  .input = JSON({"type":"object","required":["device"],"additionalProperties":false,"properties":{
    "device":{"type":"object","required":["cents"],"properties":{
      "cents":{"type":"integer","minimum":0,"maximum":1000000000},
      "parts":{"type":"array","items":{"type":"object","required":["cents","count"]}}}}}}),
  .output = JSON({"type":"object","required":["cents","pieces","levels"],"additionalProperties":false,"properties":{
    "cents":{"type":"integer"},"pieces":{"type":"integer"},"levels":{"type":"integer"}}}),
  .handler = price,
});
