#include "latchwork.h"

static char *named(const char *kind, const char *name) {
  latch_text key = { 0 };
  latch_putf(&key, "%s:%s", kind, name);
  return key.bytes;
}

/* Enters a buoy in both directions: where it is, and which buoy a berth has. */
static bool enter(latch_json args, latch_answer *answer) {
  char *buoy = latch_json_string(latch_json_member(args, "buoy")), *berth = latch_json_string(latch_json_member(args, "berth"));
  if (!buoy || !berth) return latch_fail(answer, LATCH_INVALID_INPUT, "buoy or berth is missing");
  char *at = named("buoy", buoy), *of = named("berth", berth);
  if (!latch_kv_set(answer, at, berth)) return false;
  if (!latch_kv_set(answer, of, buoy))
    return latch_fail(answer, LATCH_TRANSIENT_DB_LOCK, "the roster of berths cannot be written: %s", answer->message);
  latch_put(&answer->result, "{\"entered\":true}");
  latch_changed(answer, (latch_change){ "roster", at, "set", .version = berth });
  latch_changed(answer, (latch_change){ "roster", of, "set", .version = buoy });
  return true;
}

static bool find(latch_json args, latch_answer *answer) {
  char *buoy = latch_json_string(latch_json_member(args, "buoy")), *berth;
  if (!buoy) return latch_fail(answer, LATCH_INVALID_INPUT, "buoy is missing");
  if (!latch_kv_get(answer, named("buoy", buoy), &berth)) return false;
  latch_put(&answer->result, "{\"berth\":");
  if (berth) latch_put_string(&answer->result, berth);
  else latch_put(&answer->result, "null");
  latch_put(&answer->result, "}");
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the roster has no such entry";
  return strcmp(found, change.version) == 0 ? NULL : "the roster has another entry";
}

LATCH_PLUGIN({
  .name = "Buoy.Enter",
  .description = "Enters the berth of a buoy in the roster.",
  .input = "{\"type\":\"object\",\"properties\":{\"buoy\":{\"type\":\"string\",\"maxLength\":40},\"berth\":{\"type\":\"string\",\"maxLength\":40}},"
           "\"required\":[\"buoy\",\"berth\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"entered\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = enter,
  .verify = check,
}, {
  .name = "Buoy.Find",
  .description = "Finds the berth of a buoy.",
  .input = "{\"type\":\"object\",\"properties\":{\"buoy\":{\"type\":\"string\",\"maxLength\":40}},\"required\":[\"buoy\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"berth\"]}",
  .effects = LATCH_READ_ONLY,
  .determinism = LATCH_EXTERNAL,
  .handler = find,
});
