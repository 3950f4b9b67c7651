#include "latchwork.h"

#include <time.h>

static bool issue(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  int64_t cents;
  if (!plate || !*plate || strlen(plate) > 16) return latch_fail(answer, LATCH_INVALID_INPUT, "plate must have 1 to 16 bytes");
  if (!latch_json_integer(latch_json_member(args, "cents"), &cents) || cents < 1 || cents > 100000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "cents must be from 1 to 100000");

  char issued[32];
  time_t now = time(NULL);
  strftime(issued, sizeof issued, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));

  latch_text entry = { 0 }, receipt = { 0 };
  latch_putf(&entry, "receipt/%s", latch_get_invocation().external_key);
  latch_put(&receipt, "{\"plate\":");
  latch_put_string(&receipt, plate);
  latch_putf(&receipt, ",\"cents\":%lld,\"issued\":\"%s\"}", (long long)cents, issued);
  if (!latch_kv_set(answer, entry.bytes, receipt.bytes)) return false;

  latch_put(&answer->result, "{\"receipt\":");
  latch_put_string(&answer->result, entry.bytes);
  latch_putf(&answer->result, ",\"issued\":\"%s\"}", issued);
  latch_changed(answer, (latch_change){ .resource_type = "receipt", .resource_id = entry.bytes, .operation = "create",
                                        .version = receipt.bytes });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the receipt is missing";
  return strcmp(found, change.version) == 0 ? NULL : "the receipt has another text";
}

LATCH_PLUGIN({
  .name = "TollReceipt.Issue",
  .description = "Issues the receipt of a toll payment.",
  .input = "{\"type\":\"object\",\"properties\":{\"plate\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\"}},"
           "\"required\":[\"plate\",\"cents\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"receipt\":{\"type\":\"string\"},\"issued\":{\"type\":\"string\"}},"
            "\"required\":[\"receipt\",\"issued\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  /* The entry has the key of the call, and no receipt is ever removed. */
  .idempotent_by_key_seconds = 7 * 24 * 3600,
  .handler = issue,
  .verify = check,
});
