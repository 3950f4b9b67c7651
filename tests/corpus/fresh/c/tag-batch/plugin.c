#include "latchwork.h"

static bool tag(latch_json args, latch_answer *answer) {
  char *item = latch_json_string(latch_json_member(args, "item"));
  latch_json tags = latch_json_member(args, "tags");
  size_t count = latch_json_count(tags);
  if (!item || !*item || strlen(item) > 60) return latch_fail(answer, LATCH_INVALID_INPUT, "the item has no name, or a long one");
  for (size_t i = 0; i < count; i++) {
    char *name = latch_json_string(latch_json_item(tags, i));
    if (!name || !*name || strlen(name) > 60) return latch_fail(answer, LATCH_INVALID_INPUT, "tag %zu is empty or too long", i);
  }
  for (size_t i = 0; i < count; i++) {
    latch_text key = { 0 };
    latch_putf(&key, "tag:%s:%s", latch_json_string(latch_json_item(tags, i)), item);
    if (!latch_kv_set(answer, key.bytes, "1")) return false;
    latch_changed(answer, (latch_change){ .resource_type = "tag", .resource_id = key.bytes, .operation = "create" });
  }
  latch_putf(&answer->result, "{\"tags\":%zu}", count);
  return true;
}

LATCH_PLUGIN({
  .name = "Item.Tag",
  .description = "Adds tags to an item.",
  .input = "{\"type\":\"object\",\"properties\":{\"item\":{\"type\":\"string\"},\"tags\":{\"type\":\"array\","
           "\"items\":{\"type\":\"string\"}}},\"required\":[\"item\",\"tags\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"tags\":{\"type\":\"integer\"}},\"required\":[\"tags\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = tag,
});
