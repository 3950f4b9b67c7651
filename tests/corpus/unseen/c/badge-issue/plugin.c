#include "latchwork.h"

#include <time.h>

static char *place(const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "badge/%s", key);
  return text.bytes;
}

static bool issued(const char *key, const char *badge, latch_answer *answer) {
  latch_put(&answer->result, "{\"badge\":");
  latch_put_string(&answer->result, badge);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "badge", .resource_id = key, .operation = "create", .version = badge });
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "name"));
  if (!name || !*name) return latch_fail(answer, LATCH_INVALID_INPUT, "the name is empty");
  char *key = latch_get_invocation().external_key, *earlier;
  if (!latch_kv_get(answer, place(key), &earlier)) return false;
  if (earlier) return issued(key, earlier, answer);
  latch_text badge = { 0 };
  latch_putf(&badge, "%s, since %lld", name, (long long)time(NULL));
  return latch_kv_set(answer, place(key), badge.bytes) && issued(key, badge.bytes, answer);
}

/* Called after a crash: finds out whether the call happened. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *badge;
  if (!latch_kv_get(answer, place(key), &badge)) return LATCH_UNKNOWN;
  if (!badge) return LATCH_DID_NOT_HAPPEN;
  issued(key, badge, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Badge.Issue",
  .description = "Issues a badge under the key of its call.",
  .input = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
           "\"required\":[\"name\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"badge\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = issue,
  .reconcile = find,
});
