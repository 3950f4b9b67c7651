/* Kiosk.Order: records an order of a kiosk. A marker shows the screen that an order is being recorded. */
#include "latchwork.h"

static char *entry(const char *prefix, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%s/%s", prefix, key);
  return text.bytes;
}

static bool placed(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"order\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "order", .resource_id = key, .operation = "create" });
  return true;
}

static bool place(latch_json args, latch_answer *answer) {
  char *item = latch_json_string(latch_json_member(args, "item"));
  int64_t count;
  if (!item || !*item) return latch_fail(answer, LATCH_INVALID_INPUT, "item is missing");
  if (!latch_json_integer(latch_json_member(args, "count"), &count) || count < 1 || count > 99)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 99 pieces are possible");

  char *key = latch_get_invocation().external_key;
  latch_text order = { 0 };
  latch_putf(&order, "%d %s", (int)count, item);
  if (!latch_kv_set(answer, entry("pending", key), "1")) return false;
  bool was_there;
  if (!latch_kv_set(answer, entry("order", key), order.bytes) || !latch_kv_delete(answer, entry("pending", key), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  return placed(key, answer);
}

/* Called after a crash: finds out whether the order was recorded. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *order;
  bool was_there;
  if (!latch_kv_get(answer, entry("order", key), &order)) return LATCH_UNKNOWN;
  /* Without this the screen would show the order as pending until the next day. */
  if (!latch_kv_delete(answer, entry("pending", key), &was_there)) return LATCH_UNKNOWN;
  if (!order) return LATCH_DID_NOT_HAPPEN;
  placed(key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Kiosk.Order",
  .description = "Records an order of a kiosk.",
  .input = "{\"type\":\"object\",\"properties\":{\"item\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"}},"
           "\"required\":[\"item\",\"count\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"order\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = place,
  .reconcile = find,
});
