/* The request book of a public telescope. A request is queued; the night assistant marks it as observed. */
#include "latchwork.h"

/* The entry of the call in the request book. */
static char *entry_name(void) {
  latch_text name = { 0 };
  latch_putf(&name, "request/%s", latch_get_invocation().external_key);
  return name.bytes;
}

static char *entry_of(latch_json args, const char *state) {
  int64_t minutes = 0;
  latch_json_integer(latch_json_member(args, "minutes"), &minutes);
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"state\":\"%s\",\"minutes\":%lld,\"target\":", state, (long long)minutes);
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "target")));
  latch_put(&entry, "}");
  return entry.bytes;
}

static const char *state_of(const char *entry) {
  char *state = latch_json_string(latch_json_member(latch_json_of(entry), "state"));
  return state ? state : "unreadable";
}

static bool queued(const char *name, latch_answer *answer) {
  latch_put(&answer->result, "{\"request\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, ",\"state\":\"queued\"}");
  latch_changed(answer, (latch_change){ .resource_type = "request", .resource_id = name, .operation = "create", .version = "queued" });
  return true;
}

static bool request(latch_json args, latch_answer *answer) {
  char *target = latch_json_string(latch_json_member(args, "target"));
  int64_t minutes;
  if (!target || !*target) return latch_fail(answer, LATCH_INVALID_INPUT, "the target is missing");
  if (!latch_json_integer(latch_json_member(args, "minutes"), &minutes) || minutes < 5 || minutes > 240)
    return latch_fail(answer, LATCH_INVALID_INPUT, "an observation takes 5 to 240 minutes");
  if (strlen(target) > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "the name of the target is too long");
  char *name = entry_name();
  return latch_kv_set(answer, name, entry_of(args, "queued")) && queued(name, answer);
}

/* Entries are never removed, so a missing entry was never written. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args, (void)key;
  char *name = entry_name(), *entry;
  if (!latch_kv_get(answer, name, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  queued(name, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL;
  if (!entry) return "the request is missing";
  if (strcmp(state_of(entry), change.version) == 0) return NULL;
  latch_text found = { 0 };
  latch_putf(&found, "the request is %s", state_of(entry));
  return found.bytes;
}

/* Withdraws a request. The entry stays in the book, marked as withdrawn, unless the observation was made meanwhile. */
static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result, (void)key;
  char *name = entry_name(), *entry;
  if (!latch_kv_get(answer, name, &entry)) return false;
  if (entry && strcmp(state_of(entry), "queued") != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the request is %s and cannot be withdrawn", state_of(entry));
  if (!latch_kv_set(answer, name, entry_of(args, "withdrawn"))) return false;
  latch_changed(answer, (latch_change){ .resource_type = "request", .resource_id = name, .operation = "update", .version = "withdrawn" });
  return true;
}

LATCH_PLUGIN({
  .name = "Telescope.Request",
  .description = "Queues an observation in the request book.",
  .input = "{\"type\":\"object\",\"properties\":{\"target\":{\"type\":\"string\"},\"minutes\":{\"type\":\"integer\"}},"
           "\"required\":[\"target\",\"minutes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"request\",\"state\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = request,
  .reconcile = find,
  .verify = check,
  .compensate = withdraw,
});
