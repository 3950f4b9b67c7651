#include "latchwork.h"

static bool stock(latch_json input, latch_answer *answer) {
  latch_json bins = latch_json_member(input, "bins");
  size_t count = latch_json_count(bins);
  int64_t total = 0;
  latch_put(&answer->result, "{\"stock\":{");
  for (size_t i = 0; i < count; i++) {
    latch_json bin = latch_json_item(bins, i);
    char *color = latch_json_string(latch_json_member(bin, "color"));
    int64_t pieces;
    if (!color || !*color) return latch_fail(answer, LATCH_INVALID_INPUT, "bin %zu has no color", i);
    if (!latch_json_integer(latch_json_member(bin, "pieces"), &pieces) || pieces < 0 || pieces > 1000000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "bin %zu: 0 to 1000000 pieces", i);
    if (i > 0) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, color);
    latch_putf(&answer->result, ":%lld", (long long)pieces);
    total += pieces;
  }
  latch_putf(&answer->result, "},\"total\":%lld}", (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Color.Stock",
  .description = "Lists the stock of an article by its colors.",
  .input = "{\"type\":\"object\",\"properties\":{\"bins\":{\"type\":\"array\",\"maxItems\":1000,\"items\":{\"type\":\"object\","
           "\"properties\":{\"color\":{\"type\":\"string\"},\"pieces\":{\"type\":\"integer\"}},\"required\":[\"color\",\"pieces\"]}}},"
           "\"required\":[\"bins\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"stock\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}},"
            "\"total\":{\"type\":\"integer\"}},\"required\":[\"stock\",\"total\"]}",
  .determinism = LATCH_PURE,
  .handler = stock,
});
