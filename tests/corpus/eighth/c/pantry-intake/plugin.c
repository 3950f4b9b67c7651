#include "latchwork.h"

/* Books a lot of food in: the lot itself, and the newest lot of its article. */
static bool intake(latch_json args, latch_answer *answer) {
  char *article = latch_json_string(latch_json_member(args, "article"));
  int64_t kilos;
  if (!article || !*article || strlen(article) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "article is missing or too long");
  if (!latch_json_integer(latch_json_member(args, "kilos"), &kilos) || kilos < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "kilos must be a positive number");

  char *key = latch_get_invocation().external_key;
  latch_text lot = { 0 }, newest = { 0 };
  latch_putf(&lot, "%s=%lld", article, (long long)kilos);
  latch_putf(&newest, "newest:%s", article);
  if (!latch_kv_set(answer, key, lot.bytes)) return false;
  if (!latch_kv_set(answer, newest.bytes, key)) {
    latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the pantry book is busy");
    answer->retry_after_ms = 2000;
    return false;
  }
  latch_changed(answer, (latch_change){ "lot", key, "create", .version = lot.bytes });
  latch_put(&answer->result, "{\"lot\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN({
  .name = "Pantry.Intake",
  .description = "Books a lot of food into the pantry.",
  .effects = LATCH_INTERNAL_WRITE,
  .input = "{\"type\":\"object\",\"required\":[\"article\",\"kilos\"],\"properties\":{\"article\":{\"type\":\"string\"},\"kilos\":{\"type\":\"integer\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"lot\"],\"properties\":{\"lot\":{\"type\":\"string\"}}}",
  .handler = intake,
});
