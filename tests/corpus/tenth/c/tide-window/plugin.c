#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Reads the gauge of a lock and says how long a barge can still pass. */

enum { TRIES = 3 };

/* The gauge is often busy for some seconds, longer than the host's own retries cover. */
static char *read_gauge(latch_answer *answer, const char *station) {
  latch_text args = { 0 };
  latch_put(&args, "{\"station\":");
  latch_put_string(&args, station);
  latch_put(&args, "}");
  for (int i = 0; i < TRIES; i++) {
    if (i) sleep(20u << i);
    char *reading = latch_call(answer, "Gauge.Read", args.bytes, NULL);
    if (reading || answer->code >= LATCH_POLICY_DENIED) return reading;
    latch_log(LATCH_WARN, "try %d: %s", i + 1, answer->message);
  }
  return NULL;
}

static bool look(latch_json input, latch_answer *answer) {
  char *station = latch_json_string(latch_json_member(input, "station"));
  double needed, level, rate;
  if (!station || !*station) return latch_fail(answer, LATCH_INVALID_INPUT, "station is missing");
  if (!latch_json_number(latch_json_member(input, "needed"), &needed))
    return latch_fail(answer, LATCH_INVALID_INPUT, "needed is missing");

  time_t asked = time(NULL);
  char *text = read_gauge(answer, station);
  if (!text) return false; /* the failure of the last try */
  latch_json reading = latch_json_of(text);
  if (!latch_json_number(latch_json_member(reading, "level"), &level) ||
      !latch_json_number(latch_json_member(reading, "rate"), &rate) || !isfinite(level) || !isfinite(rate))
    return latch_fail(answer, LATCH_SCHEMA_VALIDATION_FAILED, "the gauge gave no level or no rate");

  /* At most one day ahead: the tide turns before. */
  double hours = level < needed ? 0 : rate >= 0 ? 24 : fmin(24, (level - needed) / -rate);
  time_t now = time(NULL);
  char at[32];
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
  latch_log(LATCH_INFO, "the gauge took %d s", (int)(now - asked));
  latch_putf(&answer->result, "{\"id\":\"%s\",\"at\":\"%s\",\"minutes\":%d}", latch_uuid(), at, (int)(hours * 60));
  return true;
}

LATCH_PLUGIN({
  .name = "Tide.Window",
  .description = "Says how many minutes a barge can still pass a lock.",
  .input = "{\"type\":\"object\",\"properties\":{\"station\":{\"type\":\"string\",\"maxLength\":100},\"needed\":{\"type\":\"number\"}},"
           "\"required\":[\"station\",\"needed\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"at\":{\"type\":\"string\"},"
            "\"minutes\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1440}},\"required\":[\"id\",\"at\",\"minutes\"]}",
  .determinism = LATCH_EXTERNAL,
  .handler = look,
});
