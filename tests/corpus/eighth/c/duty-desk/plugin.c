#include "latchwork.h"

#include <time.h>

/* Addresses a message to the desk that is on duty when the step runs. */
static const char *shift_at(int hour) {
  if (hour >= 6 && hour < 14) return "early";
  if (hour >= 14 && hour <= 20) return "late";
  return "closed";
}

static bool address(latch_json input, latch_answer *answer) {
  char *subject = latch_json_string(latch_json_member(input, "subject"));
  if (!subject || !*subject) return latch_fail(answer, LATCH_INVALID_INPUT, "subject is missing");
  time_t now = time(NULL);
  struct tm utc;
  gmtime_r(&now, &utc);
  latch_putf(&answer->result, "{\"shift\":\"%s\",\"line\":", shift_at(utc.tm_hour));
  latch_text line = { 0 };
  latch_putf(&line, "%02d:%02d %s", utc.tm_hour, utc.tm_min, subject);
  latch_put_string(&answer->result, line.bytes);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Desk.Address",
  .description = "Addresses a message to the desk on duty.",
  .determinism = LATCH_STABLE,
  .input = "{\"type\":\"object\",\"required\":[\"subject\"],\"properties\":{\"subject\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"shift\",\"line\"],\"properties\":{\"shift\":{\"enum\":[\"early\",\"late\",\"night\"]},"
            "\"line\":{\"type\":\"string\"}}}",
  .handler = address,
});
