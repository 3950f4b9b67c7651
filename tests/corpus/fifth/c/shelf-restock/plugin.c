/* Orders goods for the shelves that have less than their minimum. The stock is in the input, and an order has the
 * shelf and the quantity, so that the result follows from the input. */
#include "latchwork.h"

#include <time.h>

/* A shelf is ordered at most once in a week, whichever job finds the gap. */
static char *order_key(const char *shelf) {
  char week[16];
  time_t now = time(NULL);
  strftime(week, sizeof week, "%G-W%V", gmtime(&now));
  latch_text key = { 0 };
  latch_putf(&key, "restock/%s/%s", shelf, week);
  return key.bytes;
}

static bool restock(latch_json input, latch_answer *answer) {
  latch_json shelves = latch_json_member(input, "shelves");
  size_t count = latch_json_count(shelves);
  int ordered = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json shelf = latch_json_item(shelves, i);
    char *name = latch_json_string(latch_json_member(shelf, "name"));
    int64_t stock, minimum;
    if (!name || !latch_json_integer(latch_json_member(shelf, "stock"), &stock) ||
        !latch_json_integer(latch_json_member(shelf, "minimum"), &minimum))
      return latch_fail(answer, LATCH_INVALID_INPUT, "shelf %zu is incomplete", i);
    if (stock >= minimum) continue;
    latch_text args = { 0 };
    latch_put(&args, "{\"shelf\":");
    latch_put_string(&args, name);
    latch_putf(&args, ",\"quantity\":%lld}", (long long)(minimum - stock));
    if (!latch_call(answer, "Goods.Order", args.bytes, order_key(name))) return false;
    ordered++;
  }
  latch_putf(&answer->result, "{\"ordered\":%d}", ordered);
  return true;
}

LATCH_PLUGIN({
  .name = "Shelf.Restock",
  .description = "Orders goods for the shelves below their minimum.",
  .input = "{\"type\":\"object\",\"properties\":{\"shelves\":{\"type\":\"array\",\"maxItems\":50,\"items\":"
           "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},\"stock\":{\"type\":\"integer\"},"
           "\"minimum\":{\"type\":\"integer\"}},\"required\":[\"name\",\"stock\",\"minimum\"]}}},"
           "\"required\":[\"shelves\"]}",
  .output = "{\"type\":\"object\",\"properties\":{\"ordered\":{\"type\":\"integer\"}},\"required\":[\"ordered\"]}",
  .determinism = LATCH_PURE,
  .handler = restock,
});
