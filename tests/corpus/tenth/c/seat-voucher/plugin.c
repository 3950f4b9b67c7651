#include "latchwork.h"

/* Grants vouchers for seats. A voucher is an entry of the map, named by the key of its call. */

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "voucher/%s", key);
  return name.bytes;
}

static bool give(latch_answer *answer, const char *id, const char *voucher) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, id);
  latch_putf(&answer->result, ",\"voucher\":%s}", voucher);
  return true;
}

static bool grant(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  int64_t seats;
  if (!guest || !*guest || strlen(guest) > 400) return latch_fail(answer, LATCH_INVALID_INPUT, "guest is empty or too long");
  if (!latch_json_integer(latch_json_member(args, "seats"), &seats) || seats < 1 || seats > 20)
    return latch_fail(answer, LATCH_INVALID_INPUT, "1 to 20 seats are possible");

  char *id = entry_of(latch_get_invocation().external_key), *there;
  if (!latch_kv_get(answer, id, &there)) return false;
  if (there) return give(answer, id, there); /* granted by an earlier try: nothing to do */

  latch_text voucher = { 0 };
  latch_put(&voucher, "{\"guest\":");
  latch_put_string(&voucher, guest);
  latch_putf(&voucher, ",\"seats\":%lld}", (long long)seats);
  if (!latch_kv_set(answer, id, voucher.bytes)) return false;
  latch_changed(answer, (latch_change){ "voucher", id, "create", .version = voucher.bytes });
  return give(answer, id, voucher.bytes);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the voucher is gone";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the voucher was changed";
}

LATCH_PLUGIN({
  .name = "Voucher.Grant",
  .description = "Grants a guest a voucher for seats.",
  .input = "{\"type\":\"object\",\"properties\":{\"guest\":{\"type\":\"string\",\"maxLength\":100},\"seats\":{\"type\":\"integer\"}},"
           "\"required\":[\"guest\",\"seats\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"string\"},\"voucher\":{\"type\":\"object\"}},"
            "\"required\":[\"id\",\"voucher\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 7 * 24 * 3600,
  .handler = grant,
  .verify = check,
});
