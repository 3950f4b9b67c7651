#include "latchwork.h"

static bool take(latch_json args, latch_answer *answer) {
  char *loft = latch_json_string(latch_json_member(args, "loft"));
  char *renter = latch_json_string(latch_json_member(args, "renter"));
  if (!loft || !*loft || strlen(loft) > 40) return latch_fail(answer, LATCH_INVALID_INPUT, "loft must have 1 to 40 bytes");
  if (!renter || !*renter || strlen(renter) > 200)
    return latch_fail(answer, LATCH_INVALID_INPUT, "renter must have 1 to 200 bytes");

  latch_text entry = { 0 }, holder = { 0 };
  latch_putf(&entry, "loft/%s", loft);
  latch_putf(&holder, "%s %s", latch_get_invocation().external_key, renter);

  char *found;
  if (!latch_kv_get(answer, entry.bytes, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (found && strcmp(found, holder.bytes) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "loft %s is taken", loft);
  if (!latch_kv_set(answer, entry.bytes, holder.bytes)) return false;

  latch_put(&answer->result, "{\"loft\":");
  latch_put_string(&answer->result, loft);
  latch_put(&answer->result, ",\"renter\":");
  latch_put_string(&answer->result, renter);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "loft", .resource_id = entry.bytes, .operation = "create",
                                        .version = holder.bytes });
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the loft is free";
  return strcmp(found, change.version) == 0 ? NULL : "the loft has another renter";
}

LATCH_PLUGIN({
  .name = "LoftAllocation.Take",
  .description = "Gives a free storage loft to a renter.",
  .input = "{\"type\":\"object\",\"properties\":{\"loft\":{\"type\":\"string\"},\"renter\":{\"type\":\"string\"}},"
           "\"required\":[\"loft\",\"renter\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"loft\":{\"type\":\"string\"},\"renter\":{\"type\":\"string\"}},"
            "\"required\":[\"loft\",\"renter\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = take,
  .verify = check,
});
