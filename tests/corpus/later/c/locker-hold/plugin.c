/* Locker.Hold: holds lockers for a parcel. One entry in the map has all lockers of a call. */
#include "latchwork.h"

enum { MOST = 16 };

/* Reads the lockers of the arguments. Returns their number, or 0 if they are not valid. */
static size_t lockers(latch_json args, int64_t *numbers) {
  latch_json list = latch_json_member(args, "lockers");
  size_t count = latch_json_count(list);
  if (count > MOST) return 0;
  for (size_t i = 0; i < count; i++)
    if (!latch_json_integer(latch_json_item(list, i), &numbers[i]) || numbers[i] < 1 || numbers[i] > 9999) return 0;
  return count;
}

static bool held(latch_json args, const char *key, latch_answer *answer) {
  int64_t numbers[MOST];
  size_t count = lockers(args, numbers);
  for (size_t i = 0; i < count; i++) {
    latch_text id = { 0 };
    latch_putf(&id, "%d", (int)numbers[i]);
    latch_changed(answer, (latch_change){ .resource_type = "locker", .resource_id = id.bytes, .operation = "hold" });
  }
  latch_put(&answer->result, "{\"hold\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"lockers\":%zu}", count);
  return true;
}

static bool hold(latch_json args, latch_answer *answer) {
  char *parcel = latch_json_string(latch_json_member(args, "parcel"));
  int64_t numbers[MOST];
  size_t count = lockers(args, numbers);
  if (!parcel || !*parcel) return latch_fail(answer, LATCH_INVALID_INPUT, "parcel is missing");
  if (count == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "1 to %d lockers with numbers up to 9999 are possible", MOST);
  char *key = latch_get_invocation().external_key;
  latch_text entry = { 0 };
  latch_putf(&entry, "%s:", parcel);
  for (size_t i = 0; i < count; i++) latch_putf(&entry, " %d", (int)numbers[i]);
  return latch_kv_set(answer, key, entry.bytes) && held(args, key, answer);
}

/* Called after a crash: finds out whether the lockers are held. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, key, &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  held(args, key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "Locker.Hold",
  .description = "Holds lockers for a parcel.",
  .input = "{\"type\":\"object\",\"properties\":{\"parcel\":{\"type\":\"string\"},\"lockers\":{\"type\":\"array\","
           "\"items\":{\"type\":\"integer\"}}},\"required\":[\"parcel\",\"lockers\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"required\":[\"hold\",\"lockers\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = hold,
  .reconcile = find,
});
