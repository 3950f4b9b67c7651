#include "latchwork.h"

/* Lots of a barge. Each lot is an entry of its own, so that the crew can ask for one lot. */
enum { CAPACITY = 900, LOTS = 12 };

static const char *lot_name(const char *key, int number) {
  latch_text name = { 0 };
  latch_putf(&name, "lot %d of %s", number, key);
  return name.bytes;
}

static bool load(latch_json args, latch_answer *answer) {
  const char *key = latch_get_invocation().external_key;
  latch_json lots = latch_json_member(args, "lots");
  int count = (int)latch_json_count(lots);
  int64_t loaded = 0;
  for (int i = 0; i < count; i++) {
    latch_json lot = latch_json_item(lots, (size_t)i);
    int64_t tonnes = 0;
    latch_json_integer(latch_json_member(lot, "tonnes"), &tonnes);
    loaded += tonnes;
    if (loaded > CAPACITY) return latch_fail(answer, LATCH_POLICY_DENIED, "lot %d is too heavy: the barge carries %d tonnes", i + 1, CAPACITY);
    const char *name = lot_name(key, i + 1), *text = latch_json_text(lot);
    if (!latch_kv_set(answer, name, text)) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "lot", .resource_id = name, .operation = "create", .version = text });
  }
  latch_put(&answer->result, "{\"manifest\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"lots\":%d,\"free\":%d}", count, (int)(CAPACITY - loaded));
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *manifest = latch_json_string(latch_json_member(args, "manifest")), *found;
  int64_t number = 0;
  latch_json_integer(latch_json_member(args, "lot"), &number);
  if (!latch_kv_get(answer, lot_name(manifest, (int)number), &found)) return false;
  if (!found) return latch_fail(answer, LATCH_INVALID_INPUT, "the barge has no lot %d", (int)number);
  latch_put(&answer->result, found);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Barge.Load",
    .description = "Enters the lots that are loaded on a barge.",
    .input = "{\"type\":\"object\",\"properties\":{\"barge\":{\"type\":\"string\",\"pattern\":\"^[A-Z][A-Za-z -]{0,39}$\"},"
             "\"lots\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":12,\"items\":{\"type\":\"object\",\"properties\":{"
             "\"goods\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":120},\"tonnes\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":900}},"
             "\"required\":[\"goods\",\"tonnes\"],\"additionalProperties\":false}}},\"required\":[\"barge\",\"lots\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"manifest\",\"lots\",\"free\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = load,
  },
  {
    .name = "Barge.Lot",
    .description = "Shows a lot of a manifest.",
    .input = "{\"type\":\"object\",\"properties\":{\"manifest\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"},"
             "\"lot\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":12}},\"required\":[\"manifest\",\"lot\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"goods\",\"tonnes\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = show,
  });
