/* Permit.Issue, Permit.Withdraw and Permit.Check: parking permits for residents. A plan can name Permit.Withdraw as
 * the operator that undoes Permit.Issue. */
#include "latchwork.h"

/* The entry that marks a permit as withdrawn. */
static char *mark_of(const char *permit) {
  latch_text name = { 0 };
  latch_putf(&name, "withdrawn/%s", permit);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  char *zone = latch_json_string(latch_json_member(args, "zone"));
  if (!plate || !*plate || !zone || !*zone)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a permit needs a plate and a zone");
  char *permit = latch_get_invocation().external_key;
  latch_text text = { 0 };
  latch_put(&text, "{\"plate\":");
  latch_put_string(&text, plate);
  latch_put(&text, ",\"zone\":");
  latch_put_string(&text, zone);
  latch_put(&text, "}");
  if (!latch_kv_set(answer, permit, text.bytes)) return false;
  latch_put(&answer->result, "{\"permit\":");
  latch_put_string(&answer->result, permit);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "permit", .resource_id = permit, .operation = "create" });
  return true;
}

/* Marks the permit of the given call as withdrawn. */
static bool withdraw(latch_json args, latch_answer *answer) {
  char *undone = latch_json_string(latch_json_member(args, "operator"));
  char *permit = latch_json_string(latch_json_member(latch_json_member(args, "result"), "permit"));
  if (!undone || strcmp(undone, "Permit.Issue") != 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "only Permit.Issue can be undone by Permit.Withdraw");
  if (!permit) return latch_fail(answer, LATCH_INVALID_INPUT, "the result names no permit");
  char *text;
  if (!latch_kv_get(answer, permit, &text)) return false;
  if (!text) return latch_fail(answer, LATCH_POLICY_DENIED, "permit %s is not in the register", permit);

  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, mark_of(key), text)) return false;
  latch_put(&answer->result, "{\"withdrawn\":");
  latch_put_string(&answer->result, permit);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){
    .resource_type = "permit-mark", .resource_id = mark_of(key), .operation = "create" });
  return true;
}

/* Says whether a permit is valid. The wardens ask with their scanners. */
static bool check(latch_json args, latch_answer *answer) {
  char *permit = latch_json_string(latch_json_member(args, "permit")), *text, *mark;
  if (!permit || !*permit) return latch_fail(answer, LATCH_INVALID_INPUT, "the permit is missing");
  if (!latch_kv_get(answer, permit, &text) || !latch_kv_get(answer, mark_of(permit), &mark)) return false;
  const char *state = !text ? "unknown" : mark ? "withdrawn" : "valid";
  latch_putf(&answer->result, "{\"state\":\"%s\",\"entry\":%s}", state, text ? text : "null");
  return true;
}

LATCH_PLUGIN({
  .name = "Permit.Issue",
  .description = "Issues a parking permit.",
  .input = "{\"type\":\"object\",\"properties\":{\"plate\":{\"type\":\"string\",\"maxLength\":20},"
           "\"zone\":{\"type\":\"string\",\"maxLength\":20}},"
           "\"required\":[\"plate\",\"zone\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"permit\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = issue,
}, {
  .name = "Permit.Withdraw",
  .description = "Withdraws the permit of a call of Permit.Issue.",
  .input = "{\"type\":\"object\",\"required\":[\"operator\",\"external_key\",\"result\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"withdrawn\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = withdraw,
}, {
  .name = "Permit.Check",
  .description = "Says whether a permit is valid.",
  .input = "{\"type\":\"object\",\"properties\":{\"permit\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"permit\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"state\",\"entry\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = check,
});
