#include "latchwork.h"

typedef struct {
  char *code;
  int64_t trays;
} order;

/* Spreads orders over the lanes. */
static unsigned lane_of(const order *one, unsigned lanes) { return (unsigned)((uintptr_t)one->code >> 4) % lanes; }

static bool plan(latch_json input, latch_answer *answer) {
  latch_json orders = latch_json_member(input, "orders");
  int64_t lanes;
  if (!latch_json_integer(latch_json_member(input, "lanes"), &lanes) || lanes < 1 || lanes > 8)
    return latch_fail(answer, LATCH_INVALID_INPUT, "there are 1 to 8 lanes");
  size_t count = latch_json_count(orders);
  int64_t load[8] = { 0 };
  latch_put(&answer->result, "{\"orders\":[");
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(orders, i);
    order one = { .code = latch_json_string(latch_json_member(item, "code")) };
    if (!one.code || !latch_json_integer(latch_json_member(item, "trays"), &one.trays))
      return latch_fail(answer, LATCH_INVALID_INPUT, "order %zu needs a code and trays", i + 1);
    unsigned lane = lane_of(&one, (unsigned)lanes);
    load[lane] += one.trays;
    latch_put(&answer->result, i ? ",{\"code\":" : "{\"code\":");
    latch_put_string(&answer->result, one.code);
    latch_putf(&answer->result, ",\"lane\":%u}", lane + 1);
  }
  latch_put(&answer->result, "],\"load\":[");
  for (int i = 0; i < lanes; i++) latch_putf(&answer->result, "%s%lld", i ? "," : "", (long long)load[i]);
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "TrayLanes.Plan",
  .description = "Distributes the trays of a canteen over its lanes.",
  .input = "{\"type\":\"object\",\"properties\":{\"lanes\":{\"type\":\"integer\"},\"orders\":{\"type\":\"array\"}},"
           "\"required\":[\"lanes\",\"orders\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"orders\",\"load\"]}",
  .determinism = LATCH_PURE,
  .handler = plan,
});
