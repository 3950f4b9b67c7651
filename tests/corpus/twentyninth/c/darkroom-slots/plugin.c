#include "latchwork.h"

#include <time.h>

/* Requests for the enlargers of a darkroom. The warden goes through the requests and assigns the enlargers; a member has
 * half an hour to hand in the negatives. */

#define HAND_IN_SECONDS (30 * 60)

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "request/%s", key);
  return name.bytes;
}

static bool answered(latch_json args, const char *key, latch_answer *answer) {
  char at[32];
  time_t until = time(NULL) + HAND_IN_SECONDS;
  strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&until));
  latch_put(&answer->result, "{\"request\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"member\":%s,\"hand_in_until\":\"%s\"}", latch_json_text(latch_json_member(args, "member")), at);
  latch_changed(answer, (latch_change){ .resource_type = "darkroom request", .resource_id = key, .operation = "create" });
  return true;
}

static bool request(latch_json args, latch_answer *answer) {
  char *member = latch_json_string(latch_json_member(args, "member"));
  char *format = latch_json_string(latch_json_member(args, "format"));
  int64_t sheets;
  if (!member || !format || !latch_json_integer(latch_json_member(args, "sheets"), &sheets))
    return latch_fail(answer, LATCH_INVALID_INPUT, "member, format or sheets is missing");
  if (strcmp(format, "4x5") == 0 && sheets > 10) return latch_fail(answer, LATCH_POLICY_DENIED, "at most 10 sheets of 4x5 on one evening");

  char *key = latch_get_invocation().external_key;
  latch_text entry = { 0 };
  latch_put(&entry, "{\"member\":");
  latch_put_string(&entry, member);
  latch_put(&entry, ",\"format\":");
  latch_put_string(&entry, format);
  latch_putf(&entry, ",\"sheets\":%lld}", (long long)sheets);
  return latch_kv_set(answer, entry_of(key), entry.bytes) && answered(args, key, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, entry_of(key), &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  answered(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Darkroom.Request",
  .description = "Requests an enlarger of the darkroom.",
  .input = "{\"type\":\"object\",\"properties\":{\"member\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"format\":{\"enum\":[\"35mm\",\"6x6\",\"6x7\",\"4x5\"]},"
           "\"sheets\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50}},"
           "\"required\":[\"member\",\"format\",\"sheets\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"request\",\"member\",\"hand_in_until\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = request,
  .reconcile = find,
});
