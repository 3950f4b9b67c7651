#include "latchwork.h"

/* Asks the exchange for a price, twice if need be, then the broker, who is slower. */
static char *price_of(latch_answer *answer, const char *args) {
  static const char *const sources[] = { "Exchange.Price", "Exchange.Price", "Broker.Price" };
  for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
    char *reply = latch_call(answer, sources[i], args, NULL);
    if (reply) return reply;
    latch_log(LATCH_WARN, "%s did not answer", sources[i]);
  }
  return NULL;
}

static bool quote(latch_json input, latch_answer *answer) {
  char *symbol = latch_json_string(latch_json_member(input, "symbol"));
  if (!symbol || !*symbol) return latch_fail(answer, LATCH_INVALID_INPUT, "symbol is missing");
  latch_text args = { 0 };
  latch_put(&args, "{\"symbol\":");
  latch_put_string(&args, symbol);
  latch_put(&args, "}");
  char *reply = price_of(answer, args.bytes);
  if (!reply) return false;
  double price;
  if (!latch_json_number(latch_json_member(latch_json_of(reply), "price"), &price))
    return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the answer has no price of %s", symbol);
  latch_put(&answer->result, "{\"symbol\":");
  latch_put_string(&answer->result, symbol);
  latch_putf(&answer->result, ",\"cents\":%.0f}", price * 100);
  return true;
}

LATCH_PLUGIN({
  .name = "Quote.Get",
  .description = "Gets the price of a share, in cents.",
  .determinism = LATCH_EXTERNAL,
  .input = "{\"type\":\"object\",\"required\":[\"symbol\"],\"properties\":{\"symbol\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"symbol\",\"cents\"],\"properties\":{\"symbol\":{\"type\":\"string\"},\"cents\":{\"type\":\"number\"}}}",
  .handler = quote,
});
