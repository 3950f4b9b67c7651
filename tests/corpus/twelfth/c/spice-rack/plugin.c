/* Spice.Stock: sums up the jars of a kitchen, and lists the spices that have to be bought. */
#include "latchwork.h"

enum { SCARCE = 20 };

static bool stock(latch_json input, latch_answer *answer) {
  latch_json jars = latch_json_member(input, "jars");
  size_t count = latch_json_count(jars);
  int64_t total = 0;
  latch_text grams = { 0 }, scarce = { 0 };
  latch_put(&grams, "{");
  latch_put(&scarce, "[");
  for (size_t i = 0; i < count; i++) {
    latch_json jar = latch_json_item(jars, i);
    char *spice = latch_json_string(latch_json_member(jar, "spice"));
    int64_t weight;
    if (!spice || !*spice) return latch_fail(answer, LATCH_INVALID_INPUT, "jar %zu has no spice", i);
    if (!latch_json_integer(latch_json_member(jar, "grams"), &weight))
      return latch_fail(answer, LATCH_INVALID_INPUT, "jar %zu has no weight", i);
    total += weight;
    if (grams.len > 1) latch_put(&grams, ",");
    latch_put_string(&grams, spice);
    latch_putf(&grams, ":%lld", (long long)weight);
    if (weight < SCARCE) {
      if (scarce.len > 1) latch_put(&scarce, ",");
      latch_put_string(&scarce, spice);
    }
  }
  latch_log(LATCH_INFO, "%zu jars, %lld g", count, (long long)total);
  latch_putf(&answer->result, "{\"jars\":%zu,\"total\":%lld,\"grams\":%s},\"to_buy\":%s]}", count, (long long)total,
             grams.bytes, scarce.bytes);
  return true;
}

LATCH_PLUGIN({
  .name = "Spice.Stock",
  .description = "Sums up the jars of a kitchen.",
  .input = "{\"type\":\"object\",\"properties\":{\"jars\":{\"type\":\"array\",\"maxItems\":500,\"items\":"
           "{\"type\":\"object\",\"properties\":{\"spice\":{\"type\":\"string\",\"maxLength\":60},"
           "\"grams\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":100000}},"
           "\"required\":[\"spice\",\"grams\"],\"additionalProperties\":false}}},"
           "\"required\":[\"jars\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"jars\",\"total\",\"grams\",\"to_buy\"],\"properties\":{"
            "\"grams\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}},"
            "\"to_buy\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}}}",
  .handler = stock,
});
