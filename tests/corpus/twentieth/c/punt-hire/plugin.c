/* Punt.Hire: hires out a punt. The river desk reads the hires, and looks up the charge of each hire that it finds. */
#include "latchwork.h"

#include <time.h>

/* The entry of the charge of a hire. */
static char *charge_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "charge/%s", key);
  return name.bytes;
}

static bool answered(const char *key, const char *hire, latch_answer *answer) {
  latch_put(&answer->result, "{\"id\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"hire\":%s}", hire);
  latch_changed(answer, (latch_change){ .resource_type = "hire", .resource_id = key, .operation = "create" });
  latch_changed(answer, (latch_change){
    .resource_type = "charge", .resource_id = charge_of(key), .operation = "create" });
  return true;
}

static bool hire(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  int64_t punt, hours;
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "the hire has no guest");
  if (!latch_json_integer(latch_json_member(args, "punt"), &punt) || punt < 1 || punt > 30)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the punts have the numbers 1 to 30");
  if (!latch_json_integer(latch_json_member(args, "hours"), &hours) || hours < 1 || hours > 8)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a punt is hired for 1 to 8 hours");

  char *key = latch_get_invocation().external_key, *earlier;
  if (!latch_kv_get(answer, key, &earlier)) return false;
  if (earlier) return answered(key, earlier, answer);

  latch_text charge = { 0 }, text = { 0 };
  latch_putf(&charge, "{\"cents\":%lld}", (long long)(hours * 1850));
  if (!latch_kv_set(answer, charge_of(key), charge.bytes)) return false;
  latch_putf(&text, "{\"punt\":%lld,\"hours\":%lld,\"guest\":", (long long)punt, (long long)hours);
  latch_put_string(&text, guest);
  latch_putf(&text, ",\"from\":%lld}", (long long)time(NULL));
  if (!latch_kv_set(answer, key, text.bytes)) {
    answer->applied_unknown = true;
    return false;
  }
  return answered(key, text.bytes, answer);
}

/* Undoes a hire: removes the hire and its charge. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args;
  (void)result;
  bool hired, charged;
  if (!latch_kv_delete(answer, key, &hired)) return false;
  if (!hired) return latch_fail(answer, LATCH_POLICY_DENIED, "the hire %s is no longer there", key);
  if (!latch_kv_delete(answer, charge_of(key), &charged)) {
    answer->applied_unknown = true;
    return false;
  }
  if (!charged) {
    latch_fail(answer, LATCH_POLICY_DENIED, "the hire was removed, but its charge was no longer there");
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "hire", .resource_id = key, .operation = "delete" });
  latch_changed(answer, (latch_change){
    .resource_type = "charge", .resource_id = charge_of(key), .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Punt.Hire",
  .description = "Hires out a punt.",
  .input = "{\"type\":\"object\",\"properties\":{\"punt\":{\"type\":\"integer\"},\"hours\":{\"type\":\"integer\"},"
           "\"guest\":{\"type\":\"string\",\"maxLength\":120}},"
           "\"required\":[\"punt\",\"hours\",\"guest\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"id\",\"hire\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 24 * 3600,
  .handler = hire,
  .compensate = take_back,
});
