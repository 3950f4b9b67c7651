/* A log of hedgehog sightings. A sighting is entered under the key of its call, with the time of its entry. */
#include "latchwork.h"

#include <time.h>

enum { DAY = 86400 };

static char *entry_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "sighting/%s", key);
  return name.bytes;
}

static char *entry_of(const char *place, int64_t count, const char *note) {
  latch_text entry = { 0 };
  latch_putf(&entry, "{\"entered\":%lld,\"count\":%lld,\"place\":", (long long)time(NULL), (long long)count);
  latch_put_string(&entry, place);
  latch_put(&entry, ",\"note\":");
  latch_put_string(&entry, note);
  latch_put(&entry, "}");
  return entry.bytes;
}

static bool enter(latch_json args, latch_answer *answer) {
  char *place = latch_json_string(latch_json_member(args, "place"));
  char *note = latch_json_string(latch_json_member(args, "note"));
  int64_t count;
  if (!place || !*place) return latch_fail(answer, LATCH_INVALID_INPUT, "the place is missing");
  if (!latch_json_integer(latch_json_member(args, "count"), &count) || count < 1)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a sighting has at least one animal");
  if (!note) note = "";
  if (strlen(place) + strlen(note) > 8000) return latch_fail(answer, LATCH_INVALID_INPUT, "place and note are too long");

  /* A repeated call finds its entry and leaves it alone, so that the time of the first entry stays. */
  char *name = entry_name(latch_get_invocation().external_key), *entry = NULL;
  if (!latch_kv_get(answer, name, &entry)) latch_log(LATCH_WARN, "%s is entered without a look at the log", name);
  if (!entry) {
    entry = entry_of(place, count, note);
    if (!latch_kv_set(answer, name, entry)) return false;
  }

  int64_t entered = 0;
  latch_json_integer(latch_json_member(latch_json_of(entry), "entered"), &entered);
  latch_put(&answer->result, "{\"sighting\":");
  latch_put_string(&answer->result, name);
  latch_putf(&answer->result, ",\"entered\":%lld}", (long long)entered);
  latch_changed(answer, (latch_change){ .resource_type = "sighting", .resource_id = name, .operation = "create" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *name = latch_json_string(latch_json_member(args, "sighting")), *entry;
  if (!name) return latch_fail(answer, LATCH_INVALID_INPUT, "the sighting is missing");
  if (!latch_kv_get(answer, name, &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no sighting %s", name);
  latch_put(&answer->result, entry);
  return true;
}

LATCH_PLUGIN(
  { .name = "Hedgehog.Enter",
    .description = "Enters a sighting in the log.",
    .input = "{\"type\":\"object\",\"properties\":{\"place\":{\"type\":\"string\"},\"count\":{\"type\":\"integer\"},"
             "\"note\":{\"type\":\"string\"}},\"required\":[\"place\",\"count\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"sighting\",\"entered\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .idempotent_by_key_seconds = 7 * DAY,
    .handler = enter },
  { .name = "Hedgehog.Show",
    .description = "Shows a sighting of the log.",
    .input = "{\"type\":\"object\",\"properties\":{\"sighting\":{\"type\":\"string\",\"pattern\":\"^sighting/\"}},\"required\":[\"sighting\"]}",
    .output = "{\"type\":\"object\",\"required\":[\"entered\",\"place\",\"count\"]}",
    .effects = LATCH_READ_ONLY,
    .determinism = LATCH_EXTERNAL,
    .handler = show });
