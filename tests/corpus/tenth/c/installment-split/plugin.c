#include "latchwork.h"

/* Splits an amount into installments that differ by one cent at most. The first ones are the larger ones. */

/* Every refusal has the reference that the support team asks for. */
static bool refuse(latch_answer *answer, const char *reason) {
  return latch_fail(answer, LATCH_INVALID_INPUT, "%s (reference %s)", reason, latch_get_context().correlation_id);
}

static bool split(latch_json input, latch_answer *answer) {
  int64_t cents, parts, fee = 0;
  if (!latch_json_integer(latch_json_member(input, "cents"), &cents) || cents <= 0)
    return refuse(answer, "the amount has to be positive");
  if (!latch_json_integer(latch_json_member(input, "parts"), &parts) || parts < 1 || parts > 60)
    return refuse(answer, "1 to 60 installments are possible");
  latch_json_integer(latch_json_member(input, "fee"), &fee);
  if (fee < 0 || fee > 100000) return refuse(answer, "the fee is out of range");
  if (cents / parts < 100) return refuse(answer, "an installment would be below one euro");

  int64_t each = cents / parts, rest = cents % parts;
  latch_putf(&answer->result, "{\"total\":%lld,\"installments\":[", (long long)(cents + fee * parts));
  for (int64_t i = 0; i < parts; i++)
    latch_putf(&answer->result, "%s%lld", i ? "," : "", (long long)(each + (i < rest) + fee));
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Installment.Split",
  .description = "Splits an amount in cents into installments.",
  .input = "{\"type\":\"object\",\"properties\":{\"cents\":{\"type\":\"integer\",\"maximum\":100000000000},"
           "\"parts\":{\"type\":\"integer\"},\"fee\":{\"type\":\"integer\"}},"
           "\"required\":[\"cents\",\"parts\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"total\":{\"type\":\"integer\"},"
            "\"installments\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}},\"required\":[\"total\",\"installments\"]}",
  .handler = split,
});
