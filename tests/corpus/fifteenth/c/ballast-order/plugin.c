#include "latchwork.h"

enum { TRIES = 3 };

/* Asks a supplier for a price. The call is repeated a fixed number of times. Returns false if there is no price. */
static bool quote(latch_answer *answer, const char *supplier, int64_t tonnes, double *price) {
  latch_text args = { 0 };
  latch_put(&args, "{\"supplier\":");
  latch_put_string(&args, supplier);
  latch_putf(&args, ",\"tonnes\":%lld}", (long long)tonnes);
  for (int i = 0; i < TRIES; i++) {
    char *found = latch_call(answer, "Ballast.Quote", args.bytes, NULL);
    if (found) return latch_json_number(latch_json_member(latch_json_of(found), "price"), price);
    latch_log(LATCH_WARN, "%s gave no price: %s", supplier, answer->message);
    if (answer->code != LATCH_DEPENDENCY_UNAVAILABLE) return false;
  }
  return false;
}

static bool order(latch_json input, latch_answer *answer) {
  char *number = latch_json_string(latch_json_member(input, "order"));
  int64_t tonnes;
  if (!number || !*number || !latch_json_integer(latch_json_member(input, "tonnes"), &tonnes))
    return latch_fail(answer, LATCH_INVALID_INPUT, "order and tonnes are needed");
  latch_json suppliers = latch_json_member(input, "suppliers");
  size_t count = latch_json_count(suppliers);

  char *cheapest = NULL;
  double lowest = 0;
  for (size_t i = 0; i < count; i++) {
    char *supplier = latch_json_string(latch_json_item(suppliers, i));
    double price;
    /* The first of several equal prices is kept. */
    if (supplier && quote(answer, supplier, tonnes, &price) && (!cheapest || price < lowest)) cheapest = supplier, lowest = price;
  }
  if (!cheapest) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no supplier gave a price");

  /* The number of the order names the action, so another job does not order twice. */
  latch_text args = { 0 }, action = { 0 };
  latch_putf(&action, "ballast-%s", number);
  latch_put(&args, "{\"supplier\":");
  latch_put_string(&args, cheapest);
  latch_putf(&args, ",\"tonnes\":%lld}", (long long)tonnes);
  char *made = latch_call(answer, "Ballast.Order", args.bytes, action.bytes);
  if (!made) return false;

  latch_put(&answer->result, "{\"supplier\":");
  latch_put_string(&answer->result, cheapest);
  latch_putf(&answer->result, ",\"price\":%.2f,\"confirmation\":%s}", lowest, latch_json_text(latch_json_member(latch_json_of(made), "id")));
  return true;
}

LATCH_PLUGIN({
  .name = "Ballast.Buy",
  .description = "Orders track ballast from the cheapest supplier.",
  .input = "{\"type\":\"object\",\"properties\":{\"order\":{\"type\":\"string\",\"maxLength\":40},"
           "\"tonnes\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000},"
           "\"suppliers\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":20}},"
           "\"required\":[\"order\",\"tonnes\",\"suppliers\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"supplier\",\"price\",\"confirmation\"]}",
  .effects = LATCH_EXTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = order,
});
