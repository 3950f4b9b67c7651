#include "latchwork.h"

#include <time.h>

/* Cents for one night in the low, middle and high season. */
static const int rates[] = { 5400, 7200, 9900 };
static const char *const seasons[] = { "low", "middle", "high" };

static int season_of(int month) {
  if (month == 7 || month == 8 || month == 12) return 2;
  if (month >= 5 && month <= 9) return 1;
  return 0;
}

static bool quote(latch_json input, latch_answer *answer) {
  int64_t nights, guests;
  if (!latch_json_integer(latch_json_member(input, "nights"), &nights) || nights < 1 || nights > 60)
    return latch_fail(answer, LATCH_INVALID_INPUT, "nights must be from 1 to 60");
  if (!latch_json_integer(latch_json_member(input, "guests"), &guests) || guests < 1 || guests > 12)
    return latch_fail(answer, LATCH_INVALID_INPUT, "guests must be from 1 to 12");

  int year, month, day;
  char *arrival = latch_json_string(latch_json_member(input, "arrival"));
  if (arrival) {
    if (sscanf(arrival, "%4d-%2d-%2d", &year, &month, &day) != 3 || month < 1 || month > 12)
      return latch_fail(answer, LATCH_INVALID_INPUT, "arrival must be a date such as 2026-07-14");
  } else {
    /* A guest at the desk arrives today. */
    time_t now = time(NULL);
    month = gmtime(&now)->tm_mon + 1;
  }

  int season = season_of(month);
  int64_t extra = guests > 2 ? (guests - 2) * 1500 : 0;
  latch_putf(&answer->result, "{\"season\":\"%s\",\"cents\":%lld}", seasons[season],
             (long long)(nights * (rates[season] + extra)));
  return true;
}

LATCH_PLUGIN({
  .name = "SeasonTariff.Quote",
  .description = "Quotes a stay at the rate of the season of its arrival.",
  .input = "{\"type\":\"object\",\"properties\":{\"nights\":{\"type\":\"integer\"},\"guests\":{\"type\":\"integer\"},"
           "\"arrival\":{\"type\":\"string\"}},\"required\":[\"nights\",\"guests\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"season\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\"}},"
            "\"required\":[\"season\",\"cents\"]}",
  .handler = quote,
});
