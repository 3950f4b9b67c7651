#include "latchwork.h"

#include <time.h>

/* Minutes since midnight of a text such as 09:30, or -1. */
static int minutes(const char *text) {
  int hour, minute;
  if (!text || sscanf(text, "%2d:%2d", &hour, &minute) != 2) return -1;
  return hour < 0 || hour > 23 || minute < 0 || minute > 59 ? -1 : hour * 60 + minute;
}

static const char *stamp(void) {
  static char text[32];
  time_t now = time(NULL);
  strftime(text, sizeof text, "%F %T", gmtime(&now));
  return text;
}

static bool assign(latch_json input, latch_answer *answer) {
  char *at = latch_json_string(latch_json_member(input, "arrival"));
  int64_t counters;
  if (!latch_json_integer(latch_json_member(input, "counters"), &counters) || counters < 1 || counters > 20)
    return latch_fail(answer, LATCH_INVALID_INPUT, "there are 1 to 20 counters");
  int arrival = minutes(at);
  if (arrival < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "arrival is a time such as 09:30");
  if (arrival < 8 * 60 || arrival >= 17 * 60)
    return latch_fail(answer, LATCH_POLICY_DENIED, "[%s] the office is closed at %s", stamp(), at);

  int slot = (arrival - 8 * 60) / 15;
  latch_putf(&answer->result, "{\"counter\":%lld,\"slot\":%d}", (long long)(slot % counters) + 1, slot);
  return true;
}

LATCH_PLUGIN({
  .name = "CounterHours.Assign",
  .description = "Assigns a counter of the citizens' office to a time of arrival.",
  .input = "{\"type\":\"object\",\"properties\":{\"arrival\":{\"type\":\"string\"},\"counters\":{\"type\":\"integer\"}},"
           "\"required\":[\"arrival\",\"counters\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"counter\",\"slot\"]}",
  .determinism = LATCH_PURE,
  .handler = assign,
});
