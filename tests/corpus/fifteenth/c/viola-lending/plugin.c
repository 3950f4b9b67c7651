#include "latchwork.h"

#include <time.h>

enum { WEEK = 7 * 24 * 3600 };

static char *name_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "loan %s", key);
  return name.bytes;
}

/* Returns the time at which the instrument is due, in UTC. */
static char *due_after(int64_t weeks) {
  time_t due = time(NULL) + (time_t)(weeks * WEEK);
  char text[32];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&due));
  latch_text copy = { 0 };
  latch_put(&copy, text);
  return copy.bytes;
}

/* Writes the result of a loan and its change. */
static void lent(const char *key, const char *due, latch_answer *answer) {
  char *name = name_of(key);
  latch_put(&answer->result, "{\"loan\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"due\":");
  latch_put_string(&answer->result, due);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "loan", .resource_id = name, .operation = "create" });
}

static bool lend(latch_json args, latch_answer *answer) {
  char *instrument = latch_json_string(latch_json_member(args, "instrument"));
  char *pupil = latch_json_string(latch_json_member(args, "pupil"));
  int64_t weeks;
  if (!instrument || !pupil || !latch_json_integer(latch_json_member(args, "weeks"), &weeks))
    return latch_fail(answer, LATCH_INVALID_INPUT, "instrument, pupil and weeks are needed");
  if (weeks < 1 || weeks > 52) return latch_fail(answer, LATCH_INVALID_INPUT, "a loan lasts 1 to 52 weeks");

  char *key = latch_get_invocation().external_key, *due = due_after(weeks);
  latch_text value = { 0 };
  latch_put(&value, "{\"instrument\":");
  latch_put_string(&value, instrument);
  latch_put(&value, ",\"pupil\":");
  latch_put_string(&value, pupil);
  latch_putf(&value, ",\"due\":\"%s\"}", due);
  if (!latch_kv_set(answer, name_of(key), value.bytes)) return false;
  lent(key, due, answer);
  return true;
}

/* Finds out whether the loan was entered. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *value;
  int64_t weeks = 0;
  if (!latch_kv_get(answer, name_of(key), &value)) return LATCH_UNKNOWN;
  if (!value) return LATCH_DID_NOT_HAPPEN;
  latch_json_integer(latch_json_member(args, "weeks"), &weeks);
  lent(key, due_after(weeks), answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Viola.Lend",
  .description = "Enters the loan of an instrument of the music school.",
  .input = "{\"type\":\"object\",\"properties\":{\"instrument\":{\"type\":\"string\",\"maxLength\":100},"
           "\"pupil\":{\"type\":\"string\",\"maxLength\":100},\"weeks\":{\"type\":\"integer\"}},"
           "\"required\":[\"instrument\",\"pupil\",\"weeks\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"loan\",\"due\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = lend,
  .reconcile = find,
});
