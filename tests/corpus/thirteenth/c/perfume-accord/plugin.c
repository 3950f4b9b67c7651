/* Accord.Balance: turns the drops of a perfume accord into percentages, and warns about materials that dominate. */
#include "latchwork.h"

static bool balance(latch_json input, latch_answer *answer) {
  char *accord = latch_json_string(latch_json_member(input, "accord"));
  latch_json parts = latch_json_member(input, "parts");
  size_t count = latch_json_count(parts);
  if (!accord || count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "an accord needs a name and at least one part");

  int64_t total = 0;
  for (size_t i = 0; i < count; i++) {
    int64_t drops;
    if (!latch_json_integer(latch_json_member(latch_json_item(parts, i), "drops"), &drops) || drops < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "part %zu has no drops", i + 1);
    total += drops;
  }

  latch_text strong = { 0 };
  latch_put(&answer->result, "{\"accord\":");
  latch_put_string(&answer->result, accord);
  latch_putf(&answer->result, ",\"drops\":%lld,\"percent\":{", (long long)total);
  for (size_t i = 0; i < count; i++) {
    latch_json part = latch_json_item(parts, i);
    char *material = latch_json_string(latch_json_member(part, "material"));
    int64_t drops = 0;
    latch_json_integer(latch_json_member(part, "drops"), &drops);
    if (!material) return latch_fail(answer, LATCH_INVALID_INPUT, "part %zu has no material", i + 1);
    if (i) latch_put(&answer->result, ",");
    latch_put_string(&answer->result, material);
    latch_putf(&answer->result, ":%.1f", 100.0 * (double)drops / (double)total);
    if (drops * 2 > total) {
      latch_put(&strong, material);
      latch_log(LATCH_INFO, "%s is more than half of %s", material, accord);
    }
  }
  latch_put(&answer->result, "},\"dominant\":");
  if (strong.len) latch_put_string(&answer->result, strong.bytes);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Accord.Balance",
  .description = "Computes the percentages of the materials of a perfume accord.",
  .input = "{\"type\":\"object\",\"properties\":{\"accord\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"parts\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"object\",\"properties\":{"
           "\"material\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"drops\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000}},"
           "\"required\":[\"material\",\"drops\"],\"additionalProperties\":false}}},"
           "\"required\":[\"accord\",\"parts\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"percent\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"number\"}},"
            "\"dominant\":{\"type\":[\"string\",\"null\"]}},\"required\":[\"accord\",\"drops\",\"percent\",\"dominant\"]}",
  .handler = balance,
});
