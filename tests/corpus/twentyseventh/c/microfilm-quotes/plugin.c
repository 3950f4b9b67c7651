/* Asks a scanning bureau for the price of each roll of film, and adds the prices up. */
#include "latchwork.h"

#include <unistd.h>

enum { TRIES = 3, PAUSE_SECONDS = 20 };

/* Asks for one roll. The bureau has hiccups, so a failed question is put again, three times at most. When the bureau
 * is busy it says so and names a pause; we keep the pause and carry on. */
static char *ask(const char *args, latch_answer *answer) {
  for (int tries = 0; tries < TRIES;) {
    char *quote = latch_call(answer, "Bureau.Quote", args, NULL);
    if (quote) return quote;
    switch (answer->code) {
    case LATCH_RATE_LIMIT:
      sleep(answer->retry_after_ms ? (answer->retry_after_ms + 999) / 1000 : PAUSE_SECONDS);
      continue;
    case LATCH_NETWORK_TIMEOUT:
    case LATCH_TEMPORARY_PROVIDER_ERROR:
    case LATCH_DEPENDENCY_UNAVAILABLE:
      tries++;
      break;
    default:
      return NULL;
    }
  }
  return NULL;
}

static bool quote_all(latch_json input, latch_answer *answer) {
  latch_json rolls = latch_json_member(input, "rolls");
  size_t count = latch_json_count(rolls);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "there are no rolls to quote");

  int64_t total = 0;
  latch_text lines = { 0 };
  latch_put(&lines, "");
  for (size_t i = 0; i < count; i++) {
    latch_json roll = latch_json_item(rolls, i);
    char *signature = latch_json_string(latch_json_member(roll, "signature"));
    int64_t frames;
    if (!signature || !latch_json_integer(latch_json_member(roll, "frames"), &frames) || frames < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "roll %zu has no signature or no frames", i + 1);

    latch_text args = { 0 };
    latch_put(&args, "{\"signature\":");
    latch_put_string(&args, signature);
    latch_putf(&args, ",\"frames\":%lld,\"dpi\":400}", (long long)frames);
    char *quote = ask(args.bytes, answer);
    if (!quote) {
      if (answer->code == LATCH_INVALID_INPUT)
        return latch_fail(answer, LATCH_INVALID_INPUT, "the bureau does not scan roll %s", signature);
      return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the bureau gave no price for roll %s", signature);
    }
    int64_t cents;
    if (!latch_json_integer(latch_json_member(latch_json_of(quote), "cents"), &cents) || cents < 0)
      return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the quote for roll %s has no price", signature);
    total += cents;
    latch_put(&lines, i ? ",{\"signature\":" : "{\"signature\":");
    latch_put_string(&lines, signature);
    latch_putf(&lines, ",\"cents\":%lld}", (long long)cents);
  }
  latch_putf(&answer->result, "{\"lines\":[%s],\"total_cents\":%lld}", lines.bytes, (long long)total);
  return true;
}

LATCH_PLUGIN({
  .name = "Microfilm.Quote",
  .description = "Adds up the scanning prices of rolls of film.",
  .input = "{\"type\":\"object\",\"properties\":{\"rolls\":{\"type\":\"array\",\"maxItems\":500,\"items\":{\"type\":\"object\","
           "\"properties\":{\"signature\":{\"type\":\"string\"},\"frames\":{\"type\":\"integer\"}},"
           "\"required\":[\"signature\",\"frames\"]}}},\"required\":[\"rolls\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"lines\",\"total_cents\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = quote_all,
});
