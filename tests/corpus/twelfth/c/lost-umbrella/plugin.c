/* Found.Keep: takes a found thing into the lost property office. */
#include "latchwork.h"

#include <time.h>

enum { DAY = 86400, USUAL = 60, VALUABLE = 180 };

static bool ticket(latch_json args, const char *key, latch_answer *answer) {
  bool valuable = false;
  latch_json_bool(latch_json_member(args, "valuable"), &valuable);
  /* The owner may collect the thing until then. */
  time_t until = time(NULL) + (valuable ? VALUABLE : USUAL) * DAY;
  char text[40];
  strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", gmtime(&until));

  latch_put(&answer->result, "{\"ticket\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"collect_until\":\"%s\",\"locked_up\":%s}", text, valuable ? "true" : "false");
  latch_changed(answer, (latch_change){ .resource_type = "found", .resource_id = key, .operation = "create" });
  return true;
}

static bool keep(latch_json args, latch_answer *answer) {
  char *thing = latch_json_string(latch_json_member(args, "thing"));
  char *place = latch_json_string(latch_json_member(args, "place"));
  if (!thing || !*thing) return latch_fail(answer, LATCH_INVALID_INPUT, "what was found?");
  if (!place) return latch_fail(answer, LATCH_INVALID_INPUT, "the place is missing");
  char *key = latch_get_invocation().external_key;
  latch_text entry = { 0 };
  latch_put(&entry, "{\"thing\":");
  latch_put_string(&entry, thing);
  latch_put(&entry, ",\"place\":");
  latch_put_string(&entry, place);
  latch_put(&entry, "}");
  return latch_kv_set(answer, key, entry.bytes) && ticket(args, key, answer);
}

/* Called after a crash: finds out whether the thing was entered. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  ticket(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Found.Keep",
  .description = "Takes a found thing into the lost property office.",
  .input = "{\"type\":\"object\",\"properties\":{\"thing\":{\"type\":\"string\",\"maxLength\":200},"
           "\"place\":{\"type\":\"string\",\"maxLength\":200},\"valuable\":{\"type\":\"boolean\"}},"
           "\"required\":[\"thing\",\"place\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ticket\",\"collect_until\",\"locked_up\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = keep,
  .reconcile = find,
});
