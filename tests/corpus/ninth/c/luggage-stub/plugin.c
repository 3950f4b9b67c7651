#include "latchwork.h"

#include <unistd.h>

/* Hands out claim stubs for left luggage. The stub of a call is stored under its key, so a repeated call returns the
   stub that was printed before. */

static bool stub(latch_answer *answer, const char *key, const char *number) {
  latch_putf(&answer->result, "{\"stub\":\"%s\"}", number);
  latch_changed(answer, (latch_change){ "stub", key, "create", .version = number });
  return true;
}

static char *new_number(void) {
  static const char letters[] = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
  unsigned char bytes[10];
  if (getentropy(bytes, sizeof bytes) != 0) abort();
  char *number = latch_room(sizeof bytes + 1);
  for (size_t i = 0; i < sizeof bytes; i++) number[i] = letters[bytes[i] % 32];
  number[sizeof bytes] = 0;
  return number;
}

static bool leave(latch_json args, latch_answer *answer) {
  int64_t pieces;
  if (!latch_json_integer(latch_json_member(args, "pieces"), &pieces))
    return latch_fail(answer, LATCH_INVALID_INPUT, "the number of pieces is missing");

  char *key = latch_get_invocation().external_key;
  char *printed;
  if (latch_kv_get(answer, key, &printed) && printed) return stub(answer, key, printed);

  char *number = new_number();
  latch_log(LATCH_INFO, "stub %s for %lld pieces", number, (long long)pieces);
  return latch_kv_set(answer, key, number) && stub(answer, key, number);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *number;
  if (!latch_kv_get(answer, change.resource_id, &number)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return number ? "the stub is still valid" : NULL;
  if (!number) return "the stub is gone";
  return strcmp(number, change.version) == 0 ? NULL : "the stub has another number";
}

static bool withdraw(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  char *number, *given = latch_json_string(latch_json_member(result, "stub"));
  bool was_there;
  if (!latch_kv_get(answer, key, &number)) return false;
  if (!number || !given || strcmp(number, given) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the stub was replaced or removed");
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the stub was removed");
  latch_changed(answer, (latch_change){ .resource_type = "stub", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Luggage.Leave",
  .description = "Hands out a claim stub for left luggage.",
  .input = "{\"type\":\"object\",\"properties\":{\"pieces\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":20}},"
           "\"required\":[\"pieces\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"stub\":{\"type\":\"string\"}},\"required\":[\"stub\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 86400,
  .handler = leave,
  .verify = check,
  .compensate = withdraw,
});
