/* Tells the last report of a buoy, and how old it is. Reports are written by the receiver of the harbour, which has the
 * same map. Reads only. */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

enum { STALE_SECONDS = 6 * 3600 };

/* The receivers keep two copies of each report, for balance. A missing copy is no finding: the other one may be there. */
static bool report_of(const char *buoy, char **report, latch_answer *answer) {
  unsigned char first = 0;
  if (getentropy(&first, 1) != 0) first = 0;
  for (int i = 0; i < 2; i++) {
    latch_text name = { 0 };
    latch_putf(&name, "report/%s/%d", buoy, (first + i) % 2);
    if (!latch_kv_get(answer, name.bytes, report)) return false;
    if (*report) return true;
  }
  return true;
}

static bool status(latch_json args, latch_answer *answer) {
  char *buoy = latch_json_string(latch_json_member(args, "buoy"));
  if (!buoy || !*buoy || strlen(buoy) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "no buoy of this harbour");
  char *text;
  if (!report_of(buoy, &text, answer)) return false;
  if (!text) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "%s has not reported", buoy);

  latch_json report = latch_json_of(text);
  int64_t at;
  double height;
  if (!latch_json_integer(latch_json_member(report, "at"), &at) || !latch_json_number(latch_json_member(report, "height_m"), &height)) {
    /* The receiver may be in the middle of a change of its format. */
    latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the report of %s cannot be read", buoy);
    answer->retry_after_ms = 60000;
    answer->applied_unknown = false;
    return false;
  }
  long long age = (long long)time(NULL) - (long long)at;
  if (age < 0) age = 0; /* The clock of the receiver is ahead. */
  latch_put(&answer->result, "{\"buoy\":");
  latch_put_string(&answer->result, buoy);
  latch_put(&answer->result, ",\"height_m\":");
  latch_put_number(&answer->result, height);
  latch_putf(&answer->result, ",\"age_seconds\":%lld,\"stale\":%s}", age, age > STALE_SECONDS ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "Buoy.Status",
  .description = "Tells the last report of a buoy and its age.",
  .input = "{\"type\":\"object\",\"required\":[\"buoy\"],\"properties\":{\"buoy\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"buoy\",\"height_m\",\"age_seconds\",\"stale\"],\"properties\":{"
            "\"buoy\":{\"type\":\"string\"},\"height_m\":{\"type\":\"number\"},\"age_seconds\":{\"type\":\"integer\"},"
            "\"stale\":{\"type\":\"boolean\"}}}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = status,
});
