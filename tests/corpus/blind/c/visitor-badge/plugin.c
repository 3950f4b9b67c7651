#include "latchwork.h"

static char *place(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "badge/%s", key);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *visitor = latch_json_string(latch_json_member(args, "visitor"));
  char *host = latch_json_string(latch_json_member(args, "host"));
  if (!visitor || !*visitor || !host) return latch_fail(answer, LATCH_INVALID_INPUT, "visitor or host is missing");
  char *badge = place(latch_get_invocation().external_key);
  latch_text line = { 0 };
  latch_putf(&line, "%s (visits %s)", visitor, host);
  if (!latch_kv_set(answer, badge, line.bytes)) return false;
  latch_changed(answer, (latch_change){ "badge", badge, "create", .version = line.bytes });
  latch_put(&answer->result, "{\"badge\":");
  latch_put_string(&answer->result, badge);
  latch_put(&answer->result, "}");
  return true;
}

/* Takes the badge back when the visit is cancelled. */
static bool revoke(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  latch_changed(answer, (latch_change){ "badge", place(key), "delete" });
  latch_putf(&answer->result, "{\"revoked\":true}");
  return true;
}

LATCH_PLUGIN({
  .name = "VisitorBadge.Issue",
  .description = "Issues the badge of a visitor.",
  .input = "{\"type\":\"object\",\"properties\":{\"visitor\":{\"type\":\"string\"},\"host\":{\"type\":\"string\"}},"
           "\"required\":[\"visitor\",\"host\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"badge\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = issue,
  .compensate = revoke,
});
