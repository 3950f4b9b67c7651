#include "latchwork.h"

enum { FULL = 10 };

static bool stamp(latch_json args, latch_answer *answer) {
  char *card = latch_json_string(latch_json_member(args, "card"));
  int64_t stamps;
  if (!card || !*card) return latch_fail(answer, LATCH_INVALID_INPUT, "card is missing");
  if (!latch_json_integer(latch_json_member(args, "stamps"), &stamps) || stamps < 1 || stamps > 3)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a visit gives 1 to 3 stamps");

  latch_text name = { 0 }, value = { 0 };
  latch_putf(&name, "card/%s", card);
  char *found;
  if (!latch_kv_get(answer, name.bytes, &found)) return false;
  int64_t now = (found ? atoll(found) : 0) + stamps;
  latch_putf(&value, "%lld", (long long)now);
  if (!latch_kv_set(answer, name.bytes, value.bytes)) return false;

  latch_changed(answer, (latch_change){ "card", name.bytes, "update", .version = value.bytes });
  latch_putf(&answer->result, "{\"stamps\":%lld,\"free\":%s}", (long long)(now % FULL), now >= FULL ? "true" : "false");
  return true;
}

LATCH_PLUGIN({
  .name = "StampCard.Add",
  .description = "Adds the stamps of a visit to a loyalty card.",
  .input = "{\"type\":\"object\",\"properties\":{\"card\":{\"type\":\"string\"},\"stamps\":{\"type\":\"integer\"}},"
           "\"required\":[\"card\",\"stamps\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"stamps\",\"free\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 86400,
  .handler = stamp,
});
