#include "latchwork.h"

#include <time.h>

/* The body of a notice is written first. Readers begin with the head, so the head makes the notice visible. */
static char *entry(const char *part, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", part, key);
  return name.bytes;
}

/* The answer is made from the stored head, so it is the same in the first try, a repetition and reconcile. */
static bool posted(const char *key, const char *head, latch_answer *answer) {
  latch_put(&answer->result, "{\"notice\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"head\":%s}", head);
  latch_changed(answer, (latch_change){
    .resource_type = "notice", .resource_id = key, .operation = "create", .version = head });
  return true;
}

static bool post(latch_json args, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *body = latch_json_string(latch_json_member(args, "body"));
  if (!title || !*title || !body) return latch_fail(answer, LATCH_INVALID_INPUT, "title or body are missing");
  if (strlen(body) > 60000) return latch_fail(answer, LATCH_INVALID_INPUT, "the body has more than 60000 bytes");
  char *key = latch_get_invocation().external_key, *head;
  if (!latch_kv_get(answer, entry("head", key), &head)) return false;
  /* A repetition keeps the notice and its time. */
  if (head) return posted(key, head, answer);

  latch_text made = { 0 };
  latch_putf(&made, "{\"posted_at\":%lld,\"title\":", (long long)time(NULL));
  latch_put_string(&made, title);
  latch_put(&made, "}");
  if (!latch_kv_set(answer, entry("body", key), body)) return false;
  if (!latch_kv_set(answer, entry("head", key), made.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  return posted(key, made.bytes, answer);
}

/* Called after a crash. A body without a head is no notice: no operator reads it, and the next try replaces it. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *head;
  if (!latch_kv_get(answer, entry("head", key), &head)) return LATCH_UNKNOWN;
  if (!head) return LATCH_DID_NOT_HAPPEN;
  posted(key, head, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *head;
  if (!latch_kv_get(answer, entry("head", change.resource_id), &head)) return NULL;
  if (!head) return "the notice is missing";
  return strcmp(head, change.version) == 0 ? NULL : "the notice has another head";
}

static bool show(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "notice")), *head, *body;
  if (!key) return latch_fail(answer, LATCH_INVALID_INPUT, "the notice is no text");
  if (!latch_kv_get(answer, entry("head", key), &head)) return false;
  if (!head) return latch_fail(answer, LATCH_INVALID_INPUT, "no notice %s", key);
  if (!latch_kv_get(answer, entry("body", key), &body)) return false;
  latch_putf(&answer->result, "{\"head\":%s,\"body\":", head);
  latch_put_string(&answer->result, body ? body : "");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Notice.Post",
  .description = "Posts a notice with the time of posting.",
  .input = "{\"type\":\"object\",\"properties\":{\"title\":{\"type\":\"string\",\"maxLength\":120},"
           "\"body\":{\"type\":\"string\",\"maxLength\":60000}},"
           "\"required\":[\"title\",\"body\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"notice\":{\"type\":\"string\"},\"head\":{\"type\":\"object\"}},"
            "\"required\":[\"notice\",\"head\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 172800,
  .handler = post,
  .reconcile = find,
  .verify = check,
}, {
  .name = "Notice.Show",
  .description = "Returns a notice.",
  .input = "{\"type\":\"object\",\"properties\":{\"notice\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"notice\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"head\":{\"type\":\"object\"},\"body\":{\"type\":\"string\"}},"
            "\"required\":[\"head\",\"body\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = show,
});
