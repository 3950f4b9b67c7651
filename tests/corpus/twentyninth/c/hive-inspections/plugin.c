#include "latchwork.h"

#include <time.h>

/* Keeps the inspections of an apiary, each under the key of its call. */

#define HOURS 3600

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "inspection/%s", key);
  return name.bytes;
}

static bool noted(const char *key, const char *hive, latch_answer *answer) {
  latch_put(&answer->result, "{\"inspection\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, ",\"hive\":");
  latch_put_string(&answer->result, hive);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "inspection", .resource_id = key, .operation = "create" });
  return true;
}

static bool note(latch_json args, latch_answer *answer) {
  char *hive = latch_json_string(latch_json_member(args, "hive"));
  int64_t frames, mites;
  bool queen;
  if (!hive || !latch_json_integer(latch_json_member(args, "brood_frames"), &frames) ||
      !latch_json_integer(latch_json_member(args, "mites"), &mites) ||
      !latch_json_bool(latch_json_member(args, "queen_seen"), &queen))
    return latch_fail(answer, LATCH_INVALID_INPUT, "hive, brood_frames, mites or queen_seen is missing");
  if (mites > 0 && frames == 0) return latch_fail(answer, LATCH_INVALID_INPUT, "mites are counted on brood frames");

  latch_invocation call = latch_get_invocation();
  /* A repetition of this call: the inspection has its time from the first try, which shall stay as it is. */
  if (call.tries_before > 0) {
    latch_log(LATCH_INFO, "inspection of %s, try %u", hive, call.tries_before + 1);
    return noted(call.external_key, hive, answer);
  }

  latch_text entry = { 0 };
  latch_putf(&entry, "{\"at\":%lld,\"hive\":", (long long)time(NULL));
  latch_put_string(&entry, hive);
  latch_putf(&entry, ",\"brood_frames\":%lld,\"mites\":%lld,\"queen_seen\":%s}", (long long)frames, (long long)mites,
             queen ? "true" : "false");
  return latch_kv_set(answer, entry_of(call.external_key), entry.bytes) && noted(call.external_key, hive, answer);
}

static bool show(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "inspection"));
  char *entry;
  if (!key) return latch_fail(answer, LATCH_INVALID_INPUT, "inspection is no text");
  if (!latch_kv_get(answer, entry_of(key), &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no inspection %s", key);
  latch_put(&answer->result, entry);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Hive.Note",
    .description = "Keeps the inspection of a hive.",
    .input = "{\"type\":\"object\",\"properties\":{\"hive\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":40},"
             "\"brood_frames\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":40},"
             "\"mites\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":5000},\"queen_seen\":{\"type\":\"boolean\"}},"
             "\"required\":[\"hive\",\"brood_frames\",\"mites\",\"queen_seen\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"inspection\",\"hive\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .idempotent_by_key_seconds = 24 * HOURS,
    .handler = note,
  },
  {
    .name = "Hive.Show",
    .description = "Shows an inspection.",
    .input = "{\"type\":\"object\",\"properties\":{\"inspection\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}},"
             "\"required\":[\"inspection\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"at\",\"hive\"]}",
    .effects = LATCH_READ_ONLY,
    .determinism = LATCH_EXTERNAL,
    .handler = show,
  });
