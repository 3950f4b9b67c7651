/* Sailing.Delay: says how late a sailing is, and what its passengers may claim. */
#include "latchwork.h"

typedef struct {
  int minutes, percent;
} band;

/* Share of the fare that is paid back, from this delay on. The last row comes first. */
static const band BANDS[] = { { 240, 75 }, { 120, 50 }, { 60, 25 }, { 0, 0 } };

/* Reads a time such as 07:45 as minutes since midnight, or returns -1. */
static int minutes_of(const char *time) {
  int hour, minute;
  if (!time || sscanf(time, "%2d:%2d", &hour, &minute) != 2) return -1;
  return hour < 24 && minute < 60 && hour >= 0 && minute >= 0 ? hour * 60 + minute : -1;
}

static int refund_of(int late) {
  for (size_t i = 0; i < sizeof BANDS / sizeof *BANDS; i++)
    if (late >= BANDS[i].minutes) return BANDS[i].percent;
  return 0;
}

static bool delay(latch_json input, latch_answer *answer) {
  char *vessel = latch_json_string(latch_json_member(input, "vessel"));
  char *port = latch_json_string(latch_json_member(input, "port"));
  int planned = minutes_of(latch_json_string(latch_json_member(input, "planned")));
  int actual = minutes_of(latch_json_string(latch_json_member(input, "actual")));
  if (!vessel || !port) return latch_fail(answer, LATCH_INVALID_INPUT, "the vessel or the port is missing");
  if (planned < 0 || actual < 0) return latch_fail(answer, LATCH_INVALID_INPUT, "a time is not of the form 07:45");

  /* A sailing that left after midnight belongs to the day before. */
  int late = actual - planned;
  if (late < -720) late += 1440;
  if (late < 0) late = 0;
  int refund = refund_of(late);
  if (refund > 0) {
    latch_text payload = { 0 };
    latch_putf(&payload, "{\"vessel\":\"%s\",\"port\":\"%s\",\"minutes\":%d}", vessel, port, late);
    latch_emit("sailing.refunded", payload.bytes);
  }

  latch_text notice = { 0 };
  if (late == 0) latch_putf(&notice, "%s left %s on time.", vessel, port);
  else latch_putf(&notice, "%s left %s %d minutes late.", vessel, port, late);
  if (refund > 0) latch_putf(&notice, " Passengers get %d %% of their fare back.", refund);
  latch_put(&answer->result, "{\"vessel\":");
  latch_put_string(&answer->result, vessel);
  latch_putf(&answer->result, ",\"minutes\":%d,\"refund_percent\":%d,\"notice\":", late, refund);
  latch_put_string(&answer->result, notice.bytes);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Sailing.Delay",
  .description = "Says how late a sailing is, and what its passengers may claim.",
  .input = "{\"type\":\"object\",\"required\":[\"vessel\",\"port\",\"planned\",\"actual\"],\"properties\":{"
           "\"vessel\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"port\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"planned\":{\"type\":\"string\"},\"actual\":{\"type\":\"string\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"vessel\",\"minutes\",\"refund_percent\",\"notice\"]}",
  .handler = delay,
});
