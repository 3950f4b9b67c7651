/* Boards a vehicle onto a ferry and gives it a lane. The desk repeats a call that was cut off under the same key. */
#include "latchwork.h"

#include <time.h>

enum { LANES = 6, LONGEST_CM = 1900 };

/* Long vehicles are in the outer lanes. */
static int lane_for(int64_t length) {
  return length > 1200 ? 1 : length > 700 ? 2 : 3 + (int)(length % (LANES - 2));
}

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "boarding/%s", key);
  return name.bytes;
}

/* The record of a boarding, as it is in the map. */
static char *record_of(const char *plate, int lane, long long at) {
  latch_text record = { 0 };
  latch_put(&record, "{\"plate\":");
  latch_put_string(&record, plate);
  latch_putf(&record, ",\"lane\":%d,\"boarded_at\":%lld}", lane, at);
  return record.bytes;
}

static void boarded(const char *name, const char *record, latch_answer *answer) {
  latch_changed(answer, (latch_change){ .resource_type = "boarding", .resource_id = name, .operation = "create", .version = record });
}

static bool board(latch_json args, latch_answer *answer) {
  char *plate = latch_json_string(latch_json_member(args, "plate"));
  int64_t length;
  if (!plate || !*plate || strlen(plate) > 16) return latch_fail(answer, LATCH_INVALID_INPUT, "the vehicle has no plate");
  if (!latch_json_integer(latch_json_member(args, "length_cm"), &length) || length < 100)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the vehicle has no length");
  if (length > LONGEST_CM) return latch_fail(answer, LATCH_POLICY_DENIED, "%s is longer than %d cm", plate, LONGEST_CM);

  char *name = entry_name(latch_get_invocation().external_key), *record;
  if (!latch_kv_get(answer, name, &record)) return false;
  if (record) {
    /* Boarded by an earlier try: keep its record with its time, and answer with it. */
    boarded(name, record, answer);
    latch_put(&answer->result, record);
    return true;
  }
  int lane = lane_for(length);
  long long at = (long long)time(NULL);
  record = record_of(plate, lane, at);
  if (!latch_kv_set(answer, name, record)) return false;
  boarded(name, record, answer);
  latch_put(&answer->result, "{\"pass\":");
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"lane\":%d,\"boarded_at\":%lld}", lane, at);
  return true;
}

static const char *still_aboard(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the vehicle is not on the list";
  return strcmp(found, change.version) == 0 ? NULL : "the list has another record";
}

LATCH_PLUGIN({
  .name = "Vehicle.Board",
  .description = "Boards a vehicle and gives it a lane.",
  .input = "{\"type\":\"object\",\"required\":[\"plate\",\"length_cm\"],\"properties\":{\"plate\":{\"type\":\"string\"},"
           "\"length_cm\":{\"type\":\"integer\"}}}",
  .output = "{\"type\":\"object\",\"required\":[\"pass\",\"lane\",\"boarded_at\"],\"properties\":{\"pass\":{\"type\":\"string\"},"
            "\"lane\":{\"type\":\"integer\"},\"boarded_at\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 43200,
  .handler = board,
  .verify = still_aboard,
});
