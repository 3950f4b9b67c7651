/* Gargoyle.Survey: keeps what a climber found at one gargoyle of a cathedral. */
#include "latchwork.h"

static const char *const STATES[] = { "sound", "cracked", "loose", "missing" };

static bool known_state(const char *state) {
  for (size_t i = 0; i < sizeof STATES / sizeof *STATES; i++)
    if (strcmp(STATES[i], state) == 0) return true;
  return false;
}

/* The name of the survey of this call in the map. */
static void entry_name(char *name, size_t size, const char *key) { snprintf(name, size, "survey/%s", key); }

/* The answer of the call: the same for the call itself and for a question about it. */
static void surveyed(latch_json args, const char *key, latch_answer *answer) {
  char *gargoyle = latch_json_string(latch_json_member(args, "gargoyle"));
  char *state = latch_json_string(latch_json_member(args, "state"));
  bool urgent = strcmp(state, "loose") == 0;
  latch_put(&answer->result, "{\"gargoyle\":");
  latch_put_string(&answer->result, gargoyle);
  latch_putf(&answer->result, ",\"urgent\":%s,\"survey\":", urgent ? "true" : "false");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "survey", .resource_id = key, .operation = "create" });
}

static bool survey(latch_json args, latch_answer *answer) {
  char *gargoyle = latch_json_string(latch_json_member(args, "gargoyle"));
  char *state = latch_json_string(latch_json_member(args, "state"));
  char *remark = latch_json_string(latch_json_member(args, "remark"));
  if (!gargoyle || !*gargoyle) return latch_fail(answer, LATCH_INVALID_INPUT, "the gargoyle has no name");
  if (!state || !known_state(state)) return latch_fail(answer, LATCH_INVALID_INPUT, "the state is not known");
  if (strcmp(state, "sound") && (!remark || !*remark)) return latch_fail(answer, LATCH_INVALID_INPUT, "a damage needs a remark");

  char *key = latch_get_invocation().external_key;
  char name[32];
  entry_name(name, sizeof name, key);
  latch_text value = { 0 };
  latch_put(&value, "{\"gargoyle\":");
  latch_put_string(&value, gargoyle);
  latch_putf(&value, ",\"state\":\"%s\",\"remark\":", state);
  latch_put_string(&value, remark ? remark : "");
  latch_put(&value, "}");
  if (!latch_kv_set(answer, name, value.bytes)) return false;
  surveyed(args, key, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char name[32], *value;
  entry_name(name, sizeof name, key);
  if (!latch_kv_get(answer, name, &value)) return LATCH_UNKNOWN;
  if (!value) return LATCH_DID_NOT_HAPPEN;
  surveyed(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Gargoyle.Survey",
  .description = "Keeps the state of one gargoyle.",
  .input = "{\"type\":\"object\",\"required\":[\"gargoyle\",\"state\"],\"additionalProperties\":false,\"properties\":{"
           "\"gargoyle\":{\"type\":\"string\",\"maxLength\":80},\"state\":{\"type\":\"string\",\"maxLength\":20},"
           "\"remark\":{\"type\":\"string\",\"maxLength\":1000}}}",
  .output = "{\"type\":\"object\",\"required\":[\"gargoyle\",\"urgent\",\"survey\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = survey,
  .reconcile = find,
});
