#include "latchwork.h"

/* Sets the tariff of a zone. The board has one entry for each zone. */

static char *entry_of(const char *zone) {
  latch_text name = { 0 };
  latch_putf(&name, "zone/%s", zone);
  return name.bytes;
}

static bool set(latch_json args, latch_answer *answer) {
  char *zone = latch_json_string(latch_json_member(args, "zone"));
  int64_t cents;
  if (!zone || !*zone || strlen(zone) > 100) return latch_fail(answer, LATCH_INVALID_INPUT, "zone is empty or too long");
  if (!latch_json_integer(latch_json_member(args, "cents"), &cents) || cents < 0)
    return latch_fail(answer, LATCH_INVALID_INPUT, "cents is missing or negative");

  char *entry = entry_of(zone), *before;
  if (!latch_kv_get(answer, entry, &before)) return false;

  latch_text tariff = { 0 };
  latch_putf(&tariff, "%lld set by %s", (long long)cents, latch_get_invocation().external_key);
  if (!latch_kv_set(answer, entry, tariff.bytes)) return false;

  latch_put(&answer->result, "{\"zone\":");
  latch_put_string(&answer->result, zone);
  latch_putf(&answer->result, ",\"cents\":%lld,\"before\":", (long long)cents);
  if (before) latch_put_string(&answer->result, before);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

/* Puts back the tariff that the call replaced, or removes the entry if the zone had none. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)key;
  char *zone = latch_json_string(latch_json_member(args, "zone"));
  if (!zone) return latch_fail(answer, LATCH_INVALID_INPUT, "zone is missing");
  char *entry = entry_of(zone), *before = latch_json_string(latch_json_member(result, "before"));
  if (before) return latch_kv_set(answer, entry, before);
  bool was_there;
  if (!latch_kv_delete(answer, entry, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the tariff of %s was removed already", zone);
  return true;
}

LATCH_PLUGIN({
  .name = "Tariff.Set",
  .description = "Sets the tariff of a zone, in cents.",
  .input = "{\"type\":\"object\",\"properties\":{\"zone\":{\"type\":\"string\",\"maxLength\":40},\"cents\":{\"type\":\"integer\"}},"
           "\"required\":[\"zone\",\"cents\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"before\":{\"type\":[\"string\",\"null\"]}},"
            "\"required\":[\"zone\",\"cents\",\"before\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = set,
  .compensate = take_back,
});
