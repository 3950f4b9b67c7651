#include "latchwork.h"

#include <time.h>

/* The lambing diary of a farm. An entry has the time at which it was first made, so a repeated call keeps the entry
 * that is already there. */

static bool enter(latch_json args, latch_answer *answer) {
  char *ewe = latch_json_string(latch_json_member(args, "ewe"));
  int64_t lambs;
  if (!ewe || !*ewe) return latch_fail(answer, LATCH_INVALID_INPUT, "the ewe has no tag");
  if (!latch_json_integer(latch_json_member(args, "lambs"), &lambs) || lambs < 1 || lambs > 6)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a ewe has 1 to 6 lambs");

  char *key = latch_get_invocation().external_key;
  char *entry = NULL;
  if (!latch_kv_get(answer, key, &entry)) latch_log(LATCH_WARN, "no earlier entry could be read for %s", ewe);
  if (!entry) {
    latch_text made = { 0 };
    latch_put(&made, "{\"ewe\":");
    latch_put_string(&made, ewe);
    latch_putf(&made, ",\"lambs\":%lld,\"at\":%lld}", (long long)lambs, (long long)time(NULL));
    if (!latch_kv_set(answer, key, made.bytes)) return false;
    entry = made.bytes;
  }
  latch_changed(answer, (latch_change){ .resource_type = "lambing", .resource_id = key, .operation = "create", .version = entry });
  latch_put(&answer->result, entry);
  return true;
}

LATCH_PLUGIN({
  .name = "Lambing.Enter",
  .description = "Enters a birth into the lambing diary.",
  .input = "{\"type\":\"object\",\"properties\":{\"ewe\":{\"type\":\"string\",\"maxLength\":40},\"lambs\":{\"type\":\"integer\"}},"
           "\"required\":[\"ewe\",\"lambs\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"ewe\",\"lambs\",\"at\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * 86400,
  .handler = enter,
});
