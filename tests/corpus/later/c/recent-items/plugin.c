/* Item.View: records that a customer looked at an article, and keeps the articles seen last. */
#include "latchwork.h"

enum { SHOWN = 5 };

/* Returns the list with the article in front, at most SHOWN long. */
static char *in_front(const char *article, const char *list) {
  latch_json known = latch_json_of(list ? list : "[]");
  latch_text text = { 0 };
  latch_put(&text, "[");
  latch_put_string(&text, article);
  size_t count = latch_json_count(known);
  for (size_t i = 0; i < count && i + 1 < SHOWN; i++) {
    latch_put(&text, ",");
    latch_put(&text, latch_json_text(latch_json_item(known, i)));
  }
  latch_put(&text, "]");
  return text.bytes;
}

static bool view(latch_json args, latch_answer *answer) {
  char *customer = latch_json_string(latch_json_member(args, "customer"));
  char *article = latch_json_string(latch_json_member(args, "article"));
  if (!customer || !*customer || strlen(customer) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "customer is missing");
  if (!article || !*article || strlen(article) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "article is missing");

  char *external_key = latch_get_invocation().external_key;
  latch_text view_key = { 0 }, list_key = { 0 };
  latch_putf(&view_key, "view/%s", external_key);
  latch_putf(&list_key, "recent/%s", customer);
  char *list;
  if (!latch_kv_get(answer, list_key.bytes, &list)) return false;
  if (!latch_kv_set(answer, view_key.bytes, article)) return false;
  if (!latch_kv_set(answer, list_key.bytes, in_front(article, list))) {
    answer->applied_unknown = true;
    return false;
  }
  latch_put(&answer->result, "{\"view\":");
  latch_put_string(&answer->result, external_key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "view", .resource_id = external_key, .operation = "create" });
  return true;
}

LATCH_PLUGIN({
  .name = "Item.View",
  .description = "Records that a customer looked at an article.",
  .input = "{\"type\":\"object\",\"properties\":{\"customer\":{\"type\":\"string\"},\"article\":{\"type\":\"string\"}},"
           "\"required\":[\"customer\",\"article\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"view\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  /* The entry has the key of the call, so a repetition writes the same entry. */
  .idempotent_by_key_seconds = 7 * 86400,
  .handler = view,
});
