/* Coach.Fares: offers the fares of a coach line in the currency of the traveller. */
#include "latchwork.h"

#include <time.h>

#define MOST_STOPS 100

/* Asks for the present rate from euro to the currency. */
static bool rate_of(const char *currency, double *rate, latch_answer *answer) {
  latch_text args = { 0 };
  latch_put(&args, "{\"from\":\"EUR\",\"to\":");
  latch_put_string(&args, currency);
  latch_put(&args, "}");
  char *given = latch_call(answer, "Rates.Latest", args.bytes, NULL);
  if (!given) return false;
  if (!latch_json_number(latch_json_member(latch_json_of(given), "rate"), rate) || *rate <= 0 || *rate > 1e5)
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the rate for %s is not usable", currency);
  return true;
}

static void put_day(latch_text *text, time_t at) {
  char day[16];
  strftime(day, sizeof day, "%Y-%m-%d", gmtime(&at));
  latch_putf(text, "\"%s\"", day);
}

static bool offer(latch_json input, latch_answer *answer) {
  char *currency = latch_json_string(latch_json_member(input, "currency"));
  latch_json fares = latch_json_member(input, "fares");
  size_t count = latch_json_count(fares);
  if (!currency || strlen(currency) != 3)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the currency needs three letters");
  if (count == 0 || count > MOST_STOPS)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a line has 1 to %d fares", MOST_STOPS);
  for (size_t i = 0; i < count; i++) {
    int64_t cents;
    latch_json item = latch_json_item(fares, i);
    if (!latch_json_integer(latch_json_member(item, "cents"), &cents) || cents < 0 || cents > 1000000)
      return latch_fail(answer, LATCH_INVALID_INPUT, "fare %zu is out of range", i);
  }

  double rate = 1;
  if (strcmp(currency, "EUR") != 0 && !rate_of(currency, &rate, answer)) return false;

  time_t now = time(NULL);
  latch_put(&answer->result, "{\"currency\":");
  latch_put_string(&answer->result, currency);
  latch_put(&answer->result, ",\"valid_from\":");
  put_day(&answer->result, now);
  latch_put(&answer->result, ",\"valid_to\":");
  put_day(&answer->result, now + 7 * 24 * 60 * 60);
  latch_put(&answer->result, ",\"fares\":[");
  for (size_t i = 0; i < count; i++) {
    int64_t cents = 0;
    latch_json item = latch_json_item(fares, i);
    latch_json_integer(latch_json_member(item, "cents"), &cents);
    char *stop = latch_json_string(latch_json_member(item, "stop"));
    latch_put(&answer->result, i > 0 ? ",{\"stop\":" : "{\"stop\":");
    latch_put_string(&answer->result, stop ? stop : "");
    latch_putf(&answer->result, ",\"cents\":%lld}", (long long)llround((double)cents * rate));
  }
  latch_put(&answer->result, "]}");
  return true;
}

LATCH_PLUGIN({
  .name = "Coach.Fares",
  .description = "Offers the fares of a coach line in another currency, for seven days.",
  .input = "{\"type\":\"object\",\"properties\":{\"currency\":{\"type\":\"string\"},\"fares\":{\"type\":\"array\","
           "\"items\":{\"type\":\"object\",\"properties\":{\"stop\":{\"type\":\"string\"},"
           "\"cents\":{\"type\":\"integer\"}},\"required\":[\"stop\",\"cents\"],\"additionalProperties\":false}}},"
           "\"required\":[\"currency\",\"fares\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"currency\",\"valid_from\",\"valid_to\",\"fares\"]}",
  /* The dates of the offer come from the clock of the job. */
  .determinism = LATCH_STABLE,
  .handler = offer,
});
