/* The fee of a ferry for each kind of vehicle: set it, and read it at the counter. */
#include "latchwork.h"

static char *entry(const char *vehicle) {
  latch_text name = { 0 };
  latch_putf(&name, "fee:%s", vehicle);
  return name.bytes;
}

/* The entry of a fee: the cents, and the call that has set it. */
static char *value(int64_t cents, const char *key) {
  latch_text text = { 0 };
  latch_putf(&text, "%lld %s", (long long)cents, key);
  return text.bytes;
}

static bool arguments(latch_json args, char **vehicle, int64_t *cents, latch_answer *answer) {
  *vehicle = latch_json_string(latch_json_member(args, "vehicle"));
  if (!*vehicle || !**vehicle || strlen(*vehicle) > 60)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the vehicle is missing or too long");
  if (!latch_json_integer(latch_json_member(args, "cents"), cents) || *cents < 0 || *cents > 1000000)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the fee of %s is out of range", *vehicle);
  return true;
}

static bool set(latch_json args, latch_answer *answer) {
  char *vehicle;
  int64_t cents;
  if (!arguments(args, &vehicle, &cents, answer)) return false;
  char *text = value(cents, latch_get_invocation().external_key);
  if (!latch_kv_set(answer, entry(vehicle), text)) return false;
  latch_put(&answer->result, "{\"vehicle\":");
  latch_put_string(&answer->result, vehicle);
  latch_putf(&answer->result, ",\"cents\":%lld}", (long long)cents);
  latch_changed(answer, (latch_change){ .resource_type = "fee", .resource_id = vehicle, .operation = "update",
                                        .version = text });
  return true;
}

/* Called when the job is undone: takes the fee out of the schedule, unless it was set again since. */
static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *vehicle, *found;
  int64_t cents;
  bool was_there;
  if (!arguments(args, &vehicle, &cents, answer)) return false;
  if (!latch_kv_get(answer, entry(vehicle), &found)) return false;
  if (!found || strcmp(found, value(cents, key)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the fee of %s was changed since", vehicle);
  if (!latch_kv_delete(answer, entry(vehicle), &was_there)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "fee", .resource_id = vehicle, .operation = "delete" });
  latch_put(&answer->result, "null");
  return true;
}

static bool read(latch_json args, latch_answer *answer) {
  char *vehicle = latch_json_string(latch_json_member(args, "vehicle")), *found;
  if (!vehicle || !*vehicle || strlen(vehicle) > 60)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the vehicle is missing or too long");
  if (!latch_kv_get(answer, entry(vehicle), &found)) return false;
  if (!found) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "%s has no fee", vehicle);
  latch_putf(&answer->result, "{\"cents\":%lld}", atoll(found));
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Fee.Set",
    .description = "Sets the fee of a kind of vehicle.",
    .input = "{\"type\":\"object\",\"properties\":{\"vehicle\":{\"type\":\"string\"},\"cents\":{\"type\":\"integer\"}},"
             "\"required\":[\"vehicle\",\"cents\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"vehicle\",\"cents\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = set,
    .compensate = take_back,
  },
  {
    .name = "Fee.Read",
    .description = "Reads the fee of a kind of vehicle.",
    .input = "{\"type\":\"object\",\"properties\":{\"vehicle\":{\"type\":\"string\"}},"
             "\"required\":[\"vehicle\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"cents\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = read,
  }
);
