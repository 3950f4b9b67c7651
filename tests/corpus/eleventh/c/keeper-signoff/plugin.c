#include "latchwork.h"

#include <time.h>

static char *entry_of(const char *key) {
  latch_text entry = { 0 };
  latch_putf(&entry, "signoff/%s", key);
  return entry.bytes;
}

/* The answer follows from the stored entry alone, so that a repetition answers like the first try. */
static bool signed_off(const char *entry, const char *stored, latch_answer *answer) {
  latch_put(&answer->result, "{\"entry\":");
  latch_put_string(&answer->result, entry);
  latch_put(&answer->result, ",\"signoff\":");
  latch_put_string(&answer->result, stored);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "signoff", .resource_id = entry, .operation = "create", .version = stored });
  return true;
}

static bool sign(latch_json args, latch_answer *answer) {
  char *keeper = latch_json_string(latch_json_member(args, "keeper"));
  char *round = latch_json_string(latch_json_member(args, "round"));
  if (!keeper || !*keeper || strlen(keeper) > 100 || !round || !*round || strlen(round) > 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "keeper and round must have 1 to 100 bytes");

  char *entry = entry_of(latch_get_invocation().external_key), *stored;
  if (!latch_kv_get(answer, entry, &stored)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!stored) {
    /* The first try: its time stays. */
    char at[32];
    time_t now = time(NULL);
    strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    latch_text text = { 0 };
    latch_putf(&text, "%s %s: %s", at, keeper, round);
    if (!latch_kv_set(answer, entry, text.bytes)) return false;
    stored = text.bytes;
  }
  return signed_off(entry, stored, answer);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the signoff is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the signoff has another text";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *entry = entry_of(key), *found, *stored = latch_json_string(latch_json_member(result, "signoff"));
  bool was_there;
  if (!latch_kv_get(answer, entry, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || !stored || strcmp(found, stored) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the signoff was changed or removed");
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the signoff was removed by another party");
  latch_put(&answer->result, "{}");
  latch_changed(answer, (latch_change){ .resource_type = "signoff", .resource_id = entry, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "KeeperSignoff.Sign",
  .description = "Signs off a round of a lighthouse keeper.",
  .input = "{\"type\":\"object\",\"properties\":{\"keeper\":{\"type\":\"string\"},\"round\":{\"type\":\"string\"}},"
           "\"required\":[\"keeper\",\"round\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"entry\":{\"type\":\"string\"},\"signoff\":{\"type\":\"string\"}},"
            "\"required\":[\"entry\",\"signoff\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 24 * 3600,
  .handler = sign,
  .verify = check,
  .compensate = withdraw,
});
