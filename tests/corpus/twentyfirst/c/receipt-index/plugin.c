#include "latchwork.h"

/* A receipt has two entries: its head, which Receipt.Show reads, and its text. */
static char *entry(const char *part, const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", part, key);
  return name.bytes;
}

static bool filed(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"receipt\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "receipt", .resource_id = key, .operation = "create" });
  return true;
}

static bool file(latch_json args, latch_answer *answer) {
  char *shop = latch_json_string(latch_json_member(args, "shop"));
  char *text = latch_json_string(latch_json_member(args, "text"));
  int64_t cents;
  if (!shop || !text || !latch_json_integer(latch_json_member(args, "cents"), &cents))
    return latch_fail(answer, LATCH_INVALID_INPUT, "shop, text or cents are missing");
  char *purpose = latch_json_string(latch_json_member(args, "purpose"));
  if (cents > 50000 && (!purpose || !*purpose))
    return latch_fail(answer, LATCH_INVALID_INPUT, "a receipt over 500.00 needs a purpose");
  latch_text head = { 0 };
  latch_putf(&head, "{\"cents\":%lld,\"shop\":", (long long)cents);
  latch_put_string(&head, shop);
  latch_put(&head, ",\"purpose\":");
  latch_put_string(&head, purpose ? purpose : "");
  latch_put(&head, "}");

  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry("head", key), head.bytes)) return false;
  if (!latch_kv_set(answer, entry("text", key), text)) return false;
  return filed(key, answer);
}

/* Called after a crash: a receipt with a head and without a text is not complete. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *head, *text;
  if (!latch_kv_get(answer, entry("head", key), &head) || !latch_kv_get(answer, entry("text", key), &text))
    return LATCH_UNKNOWN;
  if (!head && !text) return LATCH_DID_NOT_HAPPEN;
  if (!head || !text) return LATCH_UNKNOWN;
  filed(key, answer);
  return LATCH_HAPPENED;
}

static bool show(latch_json args, latch_answer *answer) {
  char *receipt = latch_json_string(latch_json_member(args, "receipt")), *head;
  if (!receipt) return latch_fail(answer, LATCH_INVALID_INPUT, "the receipt is no text");
  if (!latch_kv_get(answer, entry("head", receipt), &head)) return false;
  if (!head) return latch_fail(answer, LATCH_INVALID_INPUT, "no receipt %s", receipt);
  latch_put(&answer->result, head);
  return true;
}

LATCH_PLUGIN({
  .name = "Receipt.File",
  .description = "Files the text of a receipt with its shop and amount.",
  .input = "{\"type\":\"object\",\"properties\":{"
           "\"shop\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"cents\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000000},"
           "\"purpose\":{\"type\":\"string\",\"maxLength\":200},"
           "\"text\":{\"type\":\"string\",\"maxLength\":60000}},"
           "\"required\":[\"shop\",\"cents\",\"text\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"receipt\":{\"type\":\"string\"}},\"required\":[\"receipt\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = file,
  .reconcile = find,
}, {
  .name = "Receipt.Show",
  .description = "Returns shop, amount and purpose of a receipt.",
  .input = "{\"type\":\"object\",\"properties\":{\"receipt\":{\"type\":\"string\",\"maxLength\":128}},"
           "\"required\":[\"receipt\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"cents\",\"shop\",\"purpose\"]}",
  .effects = LATCH_READ_ONLY,
  .handler = show,
});
