#include "latchwork.h"

/* Publishes tide notices of harbours. A notice has a body and a head. It exists once its head is written, because
 * TideNotice.Read looks for the head first. */

static char *entry(const char *kind, const char *notice) {
  latch_text key = { 0 };
  latch_putf(&key, "%s/%s", kind, notice);
  return key.bytes;
}

static char *head_of(latch_json args) {
  char *harbour = latch_json_string(latch_json_member(args, "harbour"));
  int64_t level;
  if (!harbour || !latch_json_integer(latch_json_member(args, "level_cm"), &level)) return NULL;
  latch_text head = { 0 };
  latch_put(&head, "{\"harbour\":");
  latch_put_string(&head, harbour);
  latch_putf(&head, ",\"level_cm\":%lld}", (long long)level);
  return head.bytes;
}

static void published(const char *notice, const char *head, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "tide-notice", .resource_id = notice, .operation = "create", .version = head });
  latch_put(&answer->result, "{\"notice\":");
  latch_put_string(&answer->result, notice);
  latch_put(&answer->result, "}");
}

static bool in_doubt(latch_answer *answer) {
  answer->applied_unknown = true;
  return false;
}

static bool publish(latch_json args, latch_answer *answer) {
  char *body = latch_json_string(latch_json_member(args, "text")), *head = head_of(args);
  if (!body || !head) return latch_fail(answer, LATCH_INVALID_INPUT, "harbour, level_cm or text is no plain value");
  char *notice = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry("body", notice), body)) return false;
  if (!latch_kv_set(answer, entry("head", notice), head)) return in_doubt(answer);
  published(notice, head, answer);
  return true;
}

/* A body without a head is no notice. The next try writes the body again. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *head;
  if (!latch_kv_get(answer, entry("head", key), &head)) return LATCH_UNKNOWN;
  if (!head) return LATCH_DID_NOT_HAPPEN;
  published(key, head, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *head, *body;
  if (!latch_kv_get(answer, entry("head", change.resource_id), &head)) return NULL;
  if (!latch_kv_get(answer, entry("body", change.resource_id), &body)) return NULL;
  if (!head || !body) return "the notice is missing";
  return change.version && strcmp(head, change.version) == 0 ? NULL : "the notice has another head";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *wanted_body = latch_json_string(latch_json_member(args, "text")), *wanted_head = head_of(args), *head, *body;
  if (!latch_kv_get(answer, entry("head", key), &head) || !latch_kv_get(answer, entry("body", key), &body)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!head || !body || !wanted_head || !wanted_body || strcmp(head, wanted_head) != 0 || strcmp(body, wanted_body) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the notice was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, entry("head", key), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the notice was removed");
  if (!latch_kv_delete(answer, entry("body", key), &was_there)) return in_doubt(answer);
  if (!was_there) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the body of the notice was removed");
    return in_doubt(answer);
  }
  latch_changed(answer, (latch_change){ .resource_type = "tide-notice", .resource_id = key, .operation = "delete" });
  latch_put(&answer->result, "{\"withdrawn\":true}");
  return true;
}

static bool read_notice(latch_json args, latch_answer *answer) {
  char *notice = latch_json_string(latch_json_member(args, "notice")), *head, *body = NULL;
  if (!notice) return latch_fail(answer, LATCH_INVALID_INPUT, "notice is no plain text");
  if (!latch_kv_get(answer, entry("head", notice), &head)) return false;
  if (head && !latch_kv_get(answer, entry("body", notice), &body)) return false;
  latch_putf(&answer->result, "{\"head\":%s,\"text\":", head ? head : "null");
  if (body) latch_put_string(&answer->result, body);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "TideNotice.Publish",
    .description = "Publishes a tide notice of a harbour.",
    .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"harbour\",\"level_cm\",\"text\"],\"properties\":{"
             "\"harbour\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
             "\"level_cm\":{\"type\":\"integer\",\"minimum\":-1000,\"maximum\":2000},"
             "\"text\":{\"type\":\"string\",\"maxLength\":4000}}}",
    .output = "{\"type\":\"object\",\"required\":[\"notice\"],\"properties\":{\"notice\":{\"type\":\"string\"}}}",
    .effects = LATCH_INTERNAL_WRITE, .determinism = LATCH_EXTERNAL,
    .handler = publish, .reconcile = find, .verify = check, .compensate = withdraw },
  { .name = "TideNotice.Read",
    .description = "Returns a tide notice by its key.",
    .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"notice\"],\"properties\":{"
             "\"notice\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}}}",
    .output = "{\"type\":\"object\",\"required\":[\"head\",\"text\"],\"properties\":{\"text\":{\"type\":[\"string\",\"null\"]}}}",
    .effects = LATCH_READ_ONLY, .determinism = LATCH_EXTERNAL, .handler = read_notice });
