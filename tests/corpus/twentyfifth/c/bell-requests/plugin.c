#include "latchwork.h"

#include <time.h>

/* Requests for the ringing of church bells. The ringers need to hear of a request before its hour. */
static const char *entry(latch_json args) { return latch_json_text(args); }

static void noted(const char *key, latch_json args, latch_answer *answer) {
  latch_put(&answer->result, "{\"request\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"rings_at\":%s}", latch_json_text(latch_json_member(args, "rings_at")));
  latch_changed(answer, (latch_change){ .resource_type = "ringing", .resource_id = key, .operation = "create" });
}

static bool request(latch_json args, latch_answer *answer) {
  int64_t rings_at = 0;
  latch_json_integer(latch_json_member(args, "rings_at"), &rings_at);
  if (rings_at <= (int64_t)time(NULL)) return latch_fail(answer, LATCH_INVALID_INPUT, "the hour of the ringing is past");
  const char *key = latch_get_invocation().external_key;
  char *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  if (!found && !latch_kv_set(answer, key, entry(args))) return false;
  noted(key, args, answer);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  noted(key, args, answer);
  return LATCH_HAPPENED;
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *found;
  bool was_there;
  if (!latch_kv_get(answer, key, &found)) return false;
  if (!found || strcmp(found, entry(args)) != 0) return latch_fail(answer, LATCH_POLICY_DENIED, "the request was changed or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the request was removed");
  latch_changed(answer, (latch_change){ .resource_type = "ringing", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Bell.Request",
  .description = "Notes a request for the ringing of bells.",
  .input = "{\"type\":\"object\",\"properties\":{\"tower\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"rings_at\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":4102444800},"
           "\"method\":{\"type\":\"string\",\"maxLength\":4000}},\"required\":[\"tower\",\"rings_at\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"request\",\"rings_at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * 24 * 3600,
  .handler = request,
  .reconcile = find,
  .compensate = withdraw,
});
