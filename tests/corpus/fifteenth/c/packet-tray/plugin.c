#include "latchwork.h"

typedef struct {
  char *species;
  int64_t grams;
} packet;

/* Stores each packet of a tray under the key of the call and its place in the tray. */
static bool stow(latch_json args, latch_answer *answer) {
  char *tray = latch_json_string(latch_json_member(args, "tray"));
  if (!tray || !*tray) return latch_fail(answer, LATCH_INVALID_INPUT, "the tray has no name");
  latch_json list = latch_json_member(args, "packets");
  size_t count = latch_json_count(list);
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the tray is empty");

  /* All packets are checked before the first one is written. */
  packet *packets = latch_room(count * sizeof *packets);
  int64_t grams = 0;
  for (size_t i = 0; i < count; i++) {
    latch_json item = latch_json_item(list, i);
    packets[i].species = latch_json_string(latch_json_member(item, "species"));
    if (!packets[i].species || !latch_json_integer(latch_json_member(item, "grams"), &packets[i].grams) || packets[i].grams < 1)
      return latch_fail(answer, LATCH_INVALID_INPUT, "packet %zu is incomplete", i);
    grams += packets[i].grams;
  }

  char *key = latch_get_invocation().external_key;
  for (size_t i = 0; i < count; i++) {
    latch_text name = { 0 }, value = { 0 };
    latch_putf(&name, "packet %s %zu", key, i);
    latch_put(&value, "{\"tray\":");
    latch_put_string(&value, tray);
    latch_put(&value, ",\"species\":");
    latch_put_string(&value, packets[i].species);
    latch_putf(&value, ",\"grams\":%lld}", (long long)packets[i].grams);
    if (!latch_kv_set(answer, name.bytes, value.bytes)) {
      if (i > 0) answer->applied_unknown = true;
      return false;
    }
    latch_changed(answer, (latch_change){ .resource_type = "packet", .resource_id = name.bytes, .operation = "create", .version = value.bytes });
  }

  latch_put(&answer->result, "{\"tray\":");
  latch_put_string(&answer->result, tray);
  latch_putf(&answer->result, ",\"packets\":%zu,\"grams\":%lld}", count, (long long)grams);
  return true;
}

LATCH_PLUGIN({
  .name = "Tray.Stow",
  .description = "Stores the seed packets of a tray in the seed bank.",
  .input = "{\"type\":\"object\",\"properties\":{\"tray\":{\"type\":\"string\",\"maxLength\":40},"
           "\"packets\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
           "\"species\":{\"type\":\"string\",\"maxLength\":200},\"grams\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100000}},"
           "\"required\":[\"species\",\"grams\"]}}},\"required\":[\"tray\",\"packets\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"tray\",\"packets\",\"grams\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  /* A repetition writes the same entries again. */
  .idempotent_by_key_seconds = 86400,
  .handler = stow,
});
