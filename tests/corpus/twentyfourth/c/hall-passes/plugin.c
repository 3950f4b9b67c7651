#include "latchwork.h"

#define JSON(...) #__VA_ARGS__

static const char *entry_of(const char *pass) {
  latch_text name = { 0 };
  latch_putf(&name, "pass/%s", pass);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  char *hall = latch_json_string(latch_json_member(args, "hall"));
  if (!holder || !hall) return latch_fail(answer, LATCH_INVALID_INPUT, "holder and hall are texts without a zero character");
  char *pass = latch_get_invocation().external_key;
  latch_text line = { 0 };
  latch_putf(&line, "%s: %s", hall, holder);
  if (!latch_kv_set(answer, entry_of(pass), line.bytes)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "pass", .resource_id = pass, .operation = "create", .version = line.bytes });
  latch_put(&answer->result, "{\"pass\":");
  latch_put_string(&answer->result, pass);
  latch_put(&answer->result, "}");
  return true;
}

static bool withdraw(latch_json args, latch_answer *answer) {
  char *pass = latch_json_string(latch_json_member(args, "pass"));
  bool was_there;
  if (!pass) return latch_fail(answer, LATCH_INVALID_INPUT, "pass is missing");
  if (!latch_kv_delete(answer, entry_of(pass), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "there is no pass %s", pass);
  latch_changed(answer, (latch_change){ .resource_type = "pass", .resource_id = pass, .operation = "delete" });
  latch_put(&answer->result, "{\"withdrawn\":");
  latch_put_string(&answer->result, pass);
  latch_put(&answer->result, "}");
  return true;
}

/* Looks at the pass of a recorded change. */
static const char *inspect(latch_change change, latch_answer *answer) {
  char *line;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &line)) return NULL;
  if (!line) return "the pass is not in the book";
  if (change.version && strcmp(line, change.version) != 0) return "the pass is for another hall or holder";
  return NULL;
}

LATCH_PLUGIN(
  { .name = "Pass.Issue",
    .description = "Issues a pass for a hall of the fair.",
    .input = JSON({"type":"object","required":["holder","hall"],"additionalProperties":false,"properties":{
      "holder":{"type":"string","minLength":1,"maxLength":80},"hall":{"type":"string","minLength":1,"maxLength":20}}}),
    .output = JSON({"type":"object","required":["pass"],"additionalProperties":false,"properties":{"pass":{"type":"string"}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .handler = issue,
    .verify = inspect },
  { .name = "Pass.Withdraw",
    .description = "Withdraws a pass for a hall of the fair.",
    .input = JSON({"type":"object","required":["pass"],"additionalProperties":false,"properties":{
      "pass":{"type":"string","pattern":"^[A-Za-z0-9_:/~-]{1,128}$"}}}),
    .output = JSON({"type":"object","required":["withdrawn"],"additionalProperties":false,"properties":{"withdrawn":{"type":"string"}}}),
    .effects = LATCH_INTERNAL_WRITE,
    .handler = withdraw,
    .verify = inspect });
