#include "latchwork.h"

#include <time.h>

/* Records that a card was swiped at the canteen. */
static void swiped(latch_answer *answer, const char *card, long long at) {
  latch_put(&answer->result, "{\"card\":");
  latch_put_string(&answer->result, card);
  latch_putf(&answer->result, ",\"at\":%lld}", at);
}

static bool swipe(latch_json args, latch_answer *answer) {
  char *card = latch_json_string(latch_json_member(args, "card"));
  if (!card || !*card) return latch_fail(answer, LATCH_INVALID_INPUT, "card is missing");
  long long at = (long long)time(NULL);
  latch_text entry = { 0 };
  latch_putf(&entry, "%lld %s", at, card);
  if (!latch_kv_set(answer, latch_get_invocation().external_key, entry.bytes)) return false;
  swiped(answer, card, at);
  return true;
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  swiped(answer, latch_json_string(latch_json_member(args, "card")), (long long)time(NULL));
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Canteen.Swipe",
  .description = "Records a swipe of a card at the canteen.",
  .effects = LATCH_INTERNAL_WRITE,
  .input = "{\"type\":\"object\",\"required\":[\"card\"],\"properties\":{\"card\":{\"type\":\"string\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"card\",\"at\"],\"properties\":{\"card\":{\"type\":\"string\"},\"at\":{\"type\":\"integer\"}}}",
  .handler = swipe,
  .reconcile = find,
});
