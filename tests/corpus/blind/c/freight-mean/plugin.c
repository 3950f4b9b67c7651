#include "latchwork.h"

/* Cents that this carrier asks, or -1 if it declined. */
static int64_t cents(latch_json quote) {
  int64_t price;
  return latch_json_integer(latch_json_member(quote, "cents"), &price) ? price : -1;
}

static bool average(latch_json input, latch_answer *answer) {
  char *port = latch_json_string(latch_json_member(input, "port"));
  if (!port || !*port) return latch_fail(answer, LATCH_INVALID_INPUT, "port is missing");

  latch_text args = { 0 };
  latch_put(&args, "{\"port\":");
  latch_put_string(&args, port);
  latch_put(&args, "}");
  char *text = latch_call(answer, "Freight.Quotes", args.bytes, NULL);
  latch_json quotes = latch_json_member(latch_json_of(text), "quotes");

  int64_t sum = 0, given = 0, best = -1;
  for (size_t i = 0; i < latch_json_count(quotes); i++) {
    int64_t price = cents(latch_json_item(quotes, i));
    if (price < 0) continue;
    sum += price;
    given++;
    if (best < 0 || price < best) best = price;
  }
  int64_t mean = sum / given;
  latch_log(LATCH_INFO, "%s: %lld quotes, %lld cents on average", port, (long long)given, (long long)mean);
  if (!text) return false;
  latch_putf(&answer->result, "{\"mean\":%lld,\"best\":%lld}", (long long)mean, (long long)best);
  return true;
}

LATCH_PLUGIN({
  .name = "FreightMean.Average",
  .description = "Averages the freight quotes to a port.",
  .input = "{\"type\":\"object\",\"properties\":{\"port\":{\"type\":\"string\"}},\"required\":[\"port\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"mean\",\"best\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = average,
});
