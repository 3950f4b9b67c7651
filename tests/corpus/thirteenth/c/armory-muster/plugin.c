/* Armory.Muster: records the pieces that a reenactment company brings to a muster, in one entry under the key of the call. */
#include "latchwork.h"

/* The answer follows from the arguments and the key alone, so reconcile gives the same one. */
static bool mustered(latch_json args, const char *key, latch_answer *answer) {
  char *company = latch_json_string(latch_json_member(args, "company"));
  latch_json pieces = latch_json_member(args, "pieces");
  size_t count = latch_json_count(pieces);

  latch_put(&answer->result, "{\"company\":");
  latch_put_string(&answer->result, company);
  latch_put(&answer->result, ",\"muster\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"pieces\":%zu}", count);

  latch_text receipt = { 0 };
  latch_put(&receipt, "{\"muster\":");
  latch_put_string(&receipt, key);
  latch_put(&receipt, "}");
  answer->receipt = receipt.bytes;

  for (size_t i = 0; i < count; i++) {
    latch_text id = { 0 };
    latch_putf(&id, "%s#%zu", key, i + 1);
    latch_changed(answer, (latch_change){
      .resource_type = "piece",
      .resource_id = id.bytes,
      .operation = "create",
      .version = latch_json_string(latch_json_item(pieces, i)),
      .external_ref = company,
    });
  }
  return true;
}

static bool muster(latch_json args, latch_answer *answer) {
  if (!latch_json_string(latch_json_member(args, "company"))) return latch_fail(answer, LATCH_INVALID_INPUT, "the company has no name");
  latch_json pieces = latch_json_member(args, "pieces");
  for (size_t i = 0; i < latch_json_count(pieces); i++)
    if (!latch_json_string(latch_json_item(pieces, i))) return latch_fail(answer, LATCH_INVALID_INPUT, "piece %zu cannot be read", i + 1);

  char *key = latch_get_invocation().external_key;
  latch_log(LATCH_INFO, "muster of %zu pieces", latch_json_count(pieces));
  return latch_kv_set(answer, key, latch_json_text(args)) && mustered(args, key, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  mustered(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Armory.Muster",
  .description = "Records the pieces that a company brings to a muster.",
  .input = "{\"type\":\"object\",\"properties\":{\"company\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
           "\"pieces\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":40,\"items\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60}}},"
           "\"required\":[\"company\",\"pieces\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"company\",\"muster\",\"pieces\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = muster,
  .reconcile = find,
});
