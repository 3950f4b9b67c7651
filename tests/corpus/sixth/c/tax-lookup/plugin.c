/* Returns the tax of an amount in a region. Rates are in the map; a region without a rate has that of its country. */
#include "latchwork.h"

static bool lookup(latch_json args, latch_answer *answer) {
  char *region = latch_json_string(latch_json_member(args, "region"));
  int64_t cents;
  if (!region || strlen(region) < 2 || strlen(region) > 20 ||
      !latch_json_integer(latch_json_member(args, "cents"), &cents))
    return latch_fail(answer, LATCH_INVALID_INPUT, "region or cents are missing");
  latch_text name = { 0 }, country = { 0 };
  latch_putf(&name, "rate/%s", region);
  char *rate;
  if (!latch_kv_get(answer, name.bytes, &rate)) return false;
  if (!rate) {
    latch_putf(&country, "rate/%.2s", region);
    if (!latch_kv_get(answer, country.bytes, &rate)) return false;
    if (!rate) return latch_fail(answer, LATCH_INVALID_INPUT, "no rate is known for %s", region);
    /* The next call finds the rate at once. The answer does not depend on it. */
    latch_kv_set(answer, name.bytes, rate);
  }
  double tax = floor((double)cents * strtod(rate, NULL) / 100 + 0.5);
  if (fabs(tax) > 9007199254740991.0) return latch_fail(answer, LATCH_INVALID_INPUT, "the amount is too large");
  latch_putf(&answer->result, "{\"tax\":%.0f}", tax);
  return true;
}

LATCH_PLUGIN({
  .name = "Tax.Lookup",
  .description = "Returns the tax of an amount in a region.",
  .input = "{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\","
           "\"minimum\":0}},\"required\":[\"region\",\"cents\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"tax\":{\"type\":\"integer\"}},\"required\":[\"tax\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = lookup,
});
