#include "latchwork.h"

enum { LIMIT_CENTS = 1000, SHARE = 20 };

static bool route(latch_json input, latch_answer *answer) {
  int64_t cents;
  if (!latch_json_integer(latch_json_member(input, "cents"), &cents) || cents <= 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "cents is not a positive integer");
  const char *desk = cents >= 100 * LIMIT_CENTS ? "manager" : cents >= LIMIT_CENTS ? "clerk" : "none";
  /* A sample of the payments is audited. */
  bool audited = cents >= LIMIT_CENTS && latch_below(SHARE) == 0;
  latch_putf(&answer->result, "{\"desk\":\"%s\",\"audited\":%s}", desk, audited ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Payment.Route",
  .description = "Routes a payment to a desk.",
  .input = "{\"type\":\"object\",\"properties\":{\"cents\":{\"type\":\"integer\"}},"
           "\"required\":[\"cents\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"desk\",\"audited\"]}",
  .determinism = LATCH_PURE,
  .handler = route,
});
