#include "latchwork.h"

/* Hands the key of a hall to a club. */
static bool hand_out(latch_json args, latch_answer *answer) {
  char *hall = latch_json_string(latch_json_member(args, "hall"));
  char *club = latch_json_string(latch_json_member(args, "club"));
  if (!hall || !club || !*hall || !*club) return latch_fail(answer, LATCH_INVALID_INPUT, "hall and club are required");
  latch_text entry = { 0 };
  latch_putf(&entry, "%s / %s", hall, club);
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, key, entry.bytes)) return false;
  latch_put(&answer->result, "{\"loan\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result, (void)key;
  latch_invocation call = latch_get_invocation();
  bool was_there;
  if (!latch_kv_delete(answer, call.external_key, &was_there)) return false;
  latch_log(LATCH_INFO, "key handed back, %s", call.slot);
  latch_put(&answer->result, "null");
  return true;
}

LATCH_PLUGIN({
  .name = "HallKey.Lend",
  .description = "Hands the key of a hall to a club.",
  .effects = LATCH_INTERNAL_WRITE,
  .input = "{\"type\":\"object\",\"required\":[\"hall\",\"club\"],\"properties\":{\"hall\":{\"type\":\"string\"},\"club\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"loan\"],\"properties\":{\"loan\":{\"type\":\"string\"}}}",
  .handler = hand_out,
  .compensate = take_back,
});
