/* Deposit.Take and Deposit.Read: takes valuables into a vault, and reads the receipt of a deposit. */
#include "latchwork.h"

#include <time.h>

static char *list_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "list/%s", key);
  return name.bytes;
}

static void taken(const char *key, const char *head, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "deposit", .resource_id = key, .operation = "create",
                                        .version = head });
  latch_put(&answer->result, "{\"deposit\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"head\":");
  latch_put_string(&answer->result, head);
  latch_put(&answer->result, "}");
}

static bool take(latch_json args, latch_answer *answer) {
  char *owner = latch_json_string(latch_json_member(args, "owner"));
  latch_json items = latch_json_member(args, "items");
  size_t count = latch_json_count(items);
  if (!owner || !*owner) return latch_fail(answer, LATCH_INVALID_INPUT, "the owner has no name");
  if (count == 0 || count > 200) return latch_fail(answer, LATCH_INVALID_INPUT, "a deposit has 1 to 200 items");
  char *key = latch_get_invocation().external_key, *head;
  if (!latch_kv_get(answer, key, &head)) return false;
  if (head) {
    taken(key, head, answer);
    return true;
  }
  if (!latch_kv_set(answer, list_name(key), latch_json_text(items))) return false;
  latch_text text = { 0 };
  latch_putf(&text, "%lld %zu %s", (long long)time(NULL), count, owner);
  if (!latch_kv_set(answer, key, text.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  taken(key, text.bytes, answer);
  return true;
}

static bool read_receipt(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "deposit")), *head, *list;
  if (!key || strlen(key) > 128) return latch_fail(answer, LATCH_INVALID_INPUT, "that is no number of a deposit");
  if (!latch_kv_get(answer, key, &head)) return false;
  if (!head) return latch_fail(answer, LATCH_INVALID_INPUT, "there is no such deposit");
  if (!latch_kv_get(answer, list_name(key), &list)) return false;
  if (!list) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "the list of the deposit is missing");
  latch_put(&answer->result, "{\"head\":");
  latch_put_string(&answer->result, head);
  latch_putf(&answer->result, ",\"items\":%s}", list);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *head;
  if (!latch_kv_get(answer, change.resource_id, &head)) return NULL;
  if (!head) return "the deposit is not in the vault";
  return change.version && strcmp(head, change.version) == 0 ? NULL : "the deposit has another head";
}

/* Gives the deposit back: removes its head, then its list. */
static bool give_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the deposit was given back already");
  if (!latch_kv_delete(answer, list_name(key), &was_there)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!was_there) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the list of the deposit was removed");
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "deposit", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Deposit.Take",
  .description = "Takes valuables into the vault.",
  .input = "{\"type\":\"object\",\"required\":[\"owner\",\"items\"],\"properties\":{"
           "\"owner\":{\"type\":\"string\",\"maxLength\":120},"
           "\"items\":{\"type\":\"array\",\"items\":{\"type\":\"string\",\"maxLength\":60}}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"deposit\",\"head\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 86400,
  .handler = take,
  .verify = check,
  .compensate = give_back,
}, {
  .name = "Deposit.Read",
  .description = "Reads the receipt of a deposit.",
  .input = "{\"type\":\"object\",\"required\":[\"deposit\"],\"properties\":{\"deposit\":{\"type\":\"string\"}},"
           "\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"head\",\"items\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = read_receipt,
});
