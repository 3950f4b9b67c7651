/* Sail.Order: stores the cutting order of a sail: a header, and one entry for each panel. */
#include "latchwork.h"

/* The seam that each panel needs on both sides, in centimetres. */
enum { SEAM = 3 };

static bool put_header(const char *key, const char *boat, size_t panels, int64_t cloth, latch_answer *answer) {
  latch_text name = { 0 }, value = { 0 };
  latch_putf(&name, "order/%s", key);
  latch_put(&value, "{\"boat\":");
  latch_put_string(&value, boat);
  latch_putf(&value, ",\"panels\":%zu,\"cloth_cm\":%lld}", panels, (long long)cloth);
  return latch_kv_set(answer, name.bytes, value.bytes);
}

static bool order(latch_json args, latch_answer *answer) {
  char *boat = latch_json_string(latch_json_member(args, "boat"));
  latch_json panels = latch_json_member(args, "panels");
  size_t count = latch_json_count(panels);
  int64_t cloth;
  if (!boat || !*boat) return latch_fail(answer, LATCH_INVALID_INPUT, "the boat has no name");
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "a sail has at least one panel");
  if (!latch_json_integer(latch_json_member(args, "cloth_cm"), &cloth) || cloth <= 2 * SEAM)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the cloth is too narrow");

  char *key = latch_get_invocation().external_key;
  if (!put_header(key, boat, count, cloth, answer)) return false;

  int64_t length = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json panel = latch_json_item(panels, i);
    int64_t wide, high;
    if (!latch_json_integer(latch_json_member(panel, "wide_cm"), &wide) ||
        !latch_json_integer(latch_json_member(panel, "high_cm"), &high))
      return latch_fail(answer, LATCH_INVALID_INPUT, "panel %zu has no size", i + 1);
    if (wide + 2 * SEAM > cloth)
      return latch_fail(answer, LATCH_INVALID_INPUT, "panel %zu is wider than the cloth", i + 1);

    latch_text name = { 0 }, value = { 0 };
    latch_putf(&name, "panel/%s/%zu", key, i + 1);
    latch_putf(&value, "{\"cut_wide_cm\":%lld,\"cut_high_cm\":%lld}", (long long)wide + 2 * SEAM, (long long)high + 2 * SEAM);
    if (!latch_kv_set(answer, name.bytes, value.bytes)) {
      answer->applied_unknown = true;
      return false;
    }
    length += high + 2 * SEAM;
  }
  latch_changed(answer, (latch_change){ .resource_type = "sail-order", .resource_id = key, .operation = "create" });
  latch_put(&answer->result, "{\"order\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"cloth_length_cm\":%lld}", (long long)length);
  return true;
}

LATCH_PLUGIN({
  .name = "Sail.Order",
  .description = "Stores the cutting order of a sail.",
  .input = "{\"type\":\"object\",\"required\":[\"boat\",\"cloth_cm\",\"panels\"],\"additionalProperties\":false,\"properties\":{"
           "\"boat\":{\"type\":\"string\",\"maxLength\":80},"
           "\"cloth_cm\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":400},"
           "\"panels\":{\"type\":\"array\",\"maxItems\":30,\"items\":{\"type\":\"object\",\"required\":[\"wide_cm\",\"high_cm\"],"
           "\"properties\":{\"wide_cm\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":1000},"
           "\"high_cm\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":3000}}}}}}",
  .output = "{\"type\":\"object\",\"required\":[\"order\",\"cloth_length_cm\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = order,
});
