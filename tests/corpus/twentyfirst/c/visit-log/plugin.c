#include "latchwork.h"

/* The name of the entry of a visit. */
typedef struct {
  char text[64];
} entry_name;

static entry_name named(const char *key) {
  entry_name name;
  snprintf(name.text, sizeof name.text, "visit/%s", key);
  return name;
}

/* The entry is made from the arguments alone, so a repetition writes the same. */
static char *visit_of(latch_json args) {
  char *visitor = latch_json_string(latch_json_member(args, "visitor"));
  char *purpose = latch_json_string(latch_json_member(args, "purpose"));
  char *day = latch_json_string(latch_json_member(args, "day"));
  if (!visitor || !day) return NULL;
  latch_text visit = { 0 };
  latch_putf(&visit, "{\"day\":\"%s\",\"visitor\":", day);
  latch_put_string(&visit, visitor);
  latch_put(&visit, ",\"purpose\":");
  latch_put_string(&visit, purpose ? purpose : "meeting");
  latch_put(&visit, "}");
  return visit.bytes;
}

static bool recorded(const char *name, const char *visit, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "visit", .resource_id = name, .operation = "create", .version = visit });
  return true;
}

static bool record(latch_json args, latch_answer *answer) {
  char *visit = visit_of(args);
  if (!visit) return latch_fail(answer, LATCH_INVALID_INPUT, "visitor or day are no texts");
  entry_name name = named(latch_get_invocation().external_key);
  return latch_kv_set(answer, name.text, visit) && recorded(name.text, visit, answer);
}

/* Called after a crash: finds out whether the visit was recorded. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  entry_name name = named(key);
  char *visit;
  if (!latch_kv_get(answer, name.text, &visit)) return LATCH_UNKNOWN;
  if (!visit) return LATCH_DID_NOT_HAPPEN;
  recorded(name.text, visit, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *visit;
  if (!latch_kv_get(answer, change.resource_id, &visit)) return NULL;
  if (!visit) return "the visit is missing";
  return strcmp(visit, change.version) == 0 ? NULL : "the entry has another visit";
}

static bool show(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "entry")), *visit;
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "the entry is no text");
  if (!latch_kv_get(answer, name, &visit)) return false;
  if (!visit) return latch_fail(answer, LATCH_INVALID_INPUT, "no entry %s", name);
  latch_put(&answer->result, visit);
  return true;
}

LATCH_PLUGIN({
  .name = "Visit.Record",
  .description = "Records a visit in the log of a building.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"visitor\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"purpose\":{\"type\":\"string\",\"maxLength\":200},"
           "\"day\":{\"type\":\"string\",\"pattern\":\"^[0-9]{4}-[0-9]{2}-[0-9]{2}$\"}},"
           "\"required\":[\"visitor\",\"day\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\"}},\"required\":[\"entry\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 86400,
  .handler = record,
  .reconcile = find,
  .verify = check,
}, {
  .name = "Visit.Show",
  .description = "Returns a recorded visit.",
  .input = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\",\"pattern\":\"^visit/\","
           "\"maxLength\":200}},\"required\":[\"entry\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"day\",\"visitor\",\"purpose\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = show,
});
