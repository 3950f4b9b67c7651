/* Keeps the log of a pottery's kilns: one entry for each firing. */
#include "latchwork.h"

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "firing/%s", key);
  return name.bytes;
}

/* The entry follows from the arguments alone, so that each try of a call gives the same one. */
static char *entry_of(const char *kiln, int64_t cone, int64_t minutes) {
  latch_text entry = { 0 };
  latch_put(&entry, "{\"kiln\":");
  latch_put_string(&entry, kiln);
  latch_putf(&entry, ",\"cone\":%lld,\"minutes\":%lld}", (long long)cone, (long long)minutes);
  return entry.bytes;
}

static bool logged(const char *name, const char *entry, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, name);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "firing", .resource_id = name, .operation = "create", .version = entry });
  return true;
}

static bool record(latch_json args, latch_answer *answer) {
  char *kiln = latch_json_string(latch_json_member(args, "kiln"));
  int64_t cone, minutes;
  if (!kiln || !*kiln) return latch_fail(answer, LATCH_INVALID_INPUT, "the kiln has no name");
  if (!latch_json_integer(latch_json_member(args, "cone"), &cone) || cone < -22 || cone > 14)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the cone is not from -22 to 14");
  if (!latch_json_integer(latch_json_member(args, "minutes"), &minutes) || minutes < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the firing has no duration");

  latch_invocation call = latch_get_invocation();
  char *name = entry_name(call.external_key), *entry = entry_of(kiln, cone, minutes);
  /* A repetition changes nothing more: the entry is there since the first try. */
  if (call.tries_before > 0) {
    latch_log(LATCH_INFO, "%s: try %u, entry kept", name, call.tries_before + 1);
    return logged(name, entry, answer);
  }
  return latch_kv_set(answer, name, entry) && logged(name, entry, answer);
}

/* The entry is never changed, so it is the one that was written or missing. */
static const char *in_place(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the firing is not in the log";
  return strcmp(found, change.version) == 0 ? NULL : "the log has another firing";
}

static bool strike_out(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  (void)result;
  char *name = entry_name(key);
  bool was_there;
  if (!latch_kv_delete(answer, name, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "%s was removed from the log by someone else", name);
  latch_changed(answer, (latch_change){ .resource_type = "firing", .resource_id = name, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Firing.Record",
  .description = "Enters a firing into the log of the kilns.",
  .input = "{\"type\":\"object\",\"required\":[\"kiln\",\"cone\",\"minutes\"],\"properties\":{\"kiln\":{\"type\":\"string\"},"
           "\"cone\":{\"type\":\"integer\"},\"minutes\":{\"type\":\"integer\"}},\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"entry\"],\"properties\":{\"entry\":{\"type\":\"string\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = record,
  .verify = in_place,
  .compensate = strike_out,
});
