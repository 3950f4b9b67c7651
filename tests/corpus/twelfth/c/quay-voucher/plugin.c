/* Voucher.Issue: issues the voucher of a boat for a night at the quay, with a code that cannot be guessed. */
#include "latchwork.h"

#include <unistd.h>

/* A code of ten letters that cannot be mistaken for each other. */
static bool draw(char code[11]) {
  static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"; /* 32 */
  unsigned char bytes[10];
  if (getentropy(bytes, sizeof bytes) != 0) return false;
  for (int i = 0; i < 10; i++) code[i] = letters[bytes[i] & 31];
  code[10] = 0;
  return true;
}

static bool issued(const char *key, const char *code, const char *boat, latch_answer *answer) {
  latch_put(&answer->result, "{\"code\":");
  latch_put_string(&answer->result, code);
  latch_put(&answer->result, ",\"boat\":");
  latch_put_string(&answer->result, boat);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "voucher", .resource_id = key, .operation = "create", .version = code });
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *boat = latch_json_string(latch_json_member(args, "boat"));
  if (!boat || !*boat) return latch_fail(answer, LATCH_INVALID_INPUT, "the boat is missing");
  char *key = latch_get_invocation().external_key, *found;
  /* A repetition finds the code of the first try, and keeps it: the skipper may have it already. */
  if (!latch_kv_get(answer, key, &found)) return false;
  if (found) return issued(key, found, boat, answer);

  char code[11];
  if (!draw(code)) {
    latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "no random numbers");
    answer->applied_unknown = false; /* nothing is written yet */
    return false;
  }
  return latch_kv_set(answer, key, code) && issued(key, code, boat, answer);
}

LATCH_PLUGIN({
  .name = "Voucher.Issue",
  .description = "Issues the voucher of a boat for a night at the quay.",
  .input = "{\"type\":\"object\",\"properties\":{\"boat\":{\"type\":\"string\",\"maxLength\":100}},"
           "\"required\":[\"boat\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"code\",\"boat\"],\"properties\":{"
            "\"code\":{\"type\":\"string\",\"minLength\":10,\"maxLength\":10}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  /* The entries are named by the key and are never removed. */
  .idempotent_by_key_seconds = 30 * 86400,
  .handler = issue,
});
