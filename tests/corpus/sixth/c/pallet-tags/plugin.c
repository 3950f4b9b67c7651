/* Keeps a tag for each box of a pallet. The entries are named by the key of the call and the number of the box. */
#include "latchwork.h"

enum { BOXES = 40 };

static bool tag(latch_json args, latch_answer *answer) {
  latch_json boxes = latch_json_member(args, "boxes");
  size_t count = latch_json_count(boxes);
  if (count == 0 || count > BOXES) return latch_fail(answer, LATCH_INVALID_INPUT, "a pallet has 1 to %d boxes", BOXES);
  char *content[BOXES];
  for (size_t i = 0; i < count; i++) {
    content[i] = latch_json_string(latch_json_item(boxes, i));
    if (!content[i] || strlen(content[i]) > 500)
      return latch_fail(answer, LATCH_INVALID_INPUT, "box %zu has no valid text", i + 1);
  }
  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    latch_text name = { 0 };
    latch_putf(&name, "%s/%zu", key, i);
    if (!latch_kv_set(answer, name.bytes, content[i])) {
      answer->applied_unknown = i > 0 || answer->applied_unknown;
      return false;
    }
    latch_changed(answer, (latch_change){ "tag", name.bytes, "create", .version = content[i] });
  }
  latch_putf(&answer->result, "{\"tags\":%zu}", count);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the tag is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the tag has another text";
}

LATCH_PLUGIN({
  .name = "Pallet.Tag",
  .description = "Keeps a tag for each box of a pallet.",
  .input = "{\"type\":\"object\",\"properties\":{\"boxes\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}},"
           "\"required\":[\"boxes\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"tags\":{\"type\":\"integer\"}},\"required\":[\"tags\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = tag,
  .verify = check,
});
