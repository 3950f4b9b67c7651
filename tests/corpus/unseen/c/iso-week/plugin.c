#include "latchwork.h"

#include <time.h>

static bool week(latch_json input, latch_answer *answer) {
  int64_t at;
  if (!latch_json_integer(latch_json_member(input, "at"), &at))
    return latch_fail(answer, LATCH_INVALID_INPUT, "at is no integer");
  time_t seconds = (time_t)at;
  struct tm parts;
  if (!gmtime_r(&seconds, &parts)) return latch_fail(answer, LATCH_INVALID_INPUT, "at is out of range");
  char date[32], iso[32];
  strftime(date, sizeof date, "%Y-%m-%d", &parts);
  strftime(iso, sizeof iso, "%G-W%V-%u", &parts);
  parts.tm_mday = 1;
  parts.tm_mon += 1;
  parts.tm_hour = parts.tm_min = parts.tm_sec = 0;
  time_t month_end = timegm(&parts);
  latch_putf(&answer->result, "{\"date\":\"%s\",\"week\":\"%s\",\"days_left\":%.3f}", date, iso,
             difftime(month_end, seconds) / 86400);
  return true;
}

LATCH_PLUGIN({
  .name = "Date.Week",
  .description = "Finds the week of a date, and the days that are left in its month.",
  .input = "{\"type\":\"object\",\"properties\":{\"at\":{\"type\":\"integer\"}},"
           "\"required\":[\"at\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"date\",\"week\",\"days_left\"]}",
  .determinism = LATCH_PURE,
  .handler = week,
});
