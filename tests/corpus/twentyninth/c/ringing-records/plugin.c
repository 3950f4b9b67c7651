#include "latchwork.h"

#include <time.h>

/* Records of a bird ringing station. The entry of a record is written once, with the time of the catch. A record that is
 * taken back stays as a blank, because the numbers of a station have no gaps. */

#define BLANK "{\"blank\":true}"

static char *entry_of(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "ring/%s", key);
  return name.bytes;
}

static bool is_blank(const char *entry) { return strcmp(entry, BLANK) == 0; }

/* The entry of a record with these arguments and this time. */
static char *contents_of(latch_json args, int64_t caught_at) {
  int64_t wing = 0, grams = 0;
  latch_text entry = { 0 };
  latch_json_integer(latch_json_member(args, "wing_mm"), &wing);
  latch_json_integer(latch_json_member(args, "tenths_of_gram"), &grams);
  latch_put(&entry, "{\"ring\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "ring")));
  latch_put(&entry, ",\"species\":");
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "species")));
  latch_putf(&entry, ",\"wing_mm\":%lld,\"tenths_of_gram\":%lld,\"caught_at\":%lld}", (long long)wing, (long long)grams, (long long)caught_at);
  return entry.bytes;
}

/* The answer of a record, from its entry. */
static bool recorded(const char *key, const char *entry, latch_answer *answer) {
  latch_json record = latch_json_of(entry);
  latch_text receipt = { 0 };
  latch_put(&receipt, "{\"record\":");
  latch_put_string(&receipt, key);
  latch_put(&receipt, "}");
  answer->receipt = receipt.bytes;
  latch_put(&answer->result, "{\"record\":");
  latch_put_string(&answer->result, key);
  latch_putf(&answer->result, ",\"ring\":%s,\"caught_at\":%s}", latch_json_text(latch_json_member(record, "ring")),
             latch_json_text(latch_json_member(record, "caught_at")));
  latch_changed(answer, (latch_change){ .resource_type = "ringing record", .resource_id = key, .operation = "create", .version = entry });
  return true;
}

static bool record(latch_json args, latch_answer *answer) {
  char *ring = latch_json_string(latch_json_member(args, "ring"));
  char *species = latch_json_string(latch_json_member(args, "species"));
  int64_t wing, grams = 0;
  if (!ring || !species || !latch_json_integer(latch_json_member(args, "wing_mm"), &wing))
    return latch_fail(answer, LATCH_INVALID_INPUT, "ring, species or wing_mm is missing");
  if (latch_json_integer(latch_json_member(args, "tenths_of_gram"), &grams) && grams > 100 * wing)
    return latch_fail(answer, LATCH_INVALID_INPUT, "a wing of %lld mm does not carry this bird", (long long)wing);

  char *key = latch_get_invocation().external_key;
  char *entry = contents_of(args, (int64_t)time(NULL));
  return latch_kv_set(answer, entry_of(key), entry) && recorded(key, entry, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *entry;
  if (!latch_kv_get(answer, entry_of(key), &entry)) return LATCH_UNKNOWN;
  if (!entry) return LATCH_DID_NOT_HAPPEN;
  if (is_blank(entry)) return LATCH_UNKNOWN;
  recorded(key, entry, answer);
  return LATCH_HAPPENED;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, entry_of(change.resource_id), &entry)) return NULL;
  if (!entry) return "the record is missing";
  if (is_blank(entry)) return "the record is blank";
  return change.version && strcmp(entry, change.version) == 0 ? NULL : "the record has other contents";
}

static bool take_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *entry;
  int64_t noted = 0;
  if (!latch_kv_get(answer, entry_of(key), &entry)) {
    answer->applied_unknown = false; /* nothing is changed yet */
    return false;
  }
  if (!entry || is_blank(entry)) return latch_fail(answer, LATCH_POLICY_DENIED, "the record is no longer there");
  if (!latch_json_integer(latch_json_member(result, "caught_at"), &noted) || strcmp(entry, contents_of(args, noted)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the record has other contents");
  if (!latch_kv_set(answer, entry_of(key), BLANK)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "ringing record", .resource_id = key, .operation = "delete" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "record")), *entry;
  if (!key) return latch_fail(answer, LATCH_INVALID_INPUT, "record is missing");
  if (!latch_kv_get(answer, entry_of(key), &entry)) return false;
  if (!entry) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no record %s", key);
  latch_put(&answer->result, entry);
  return true;
}

LATCH_PLUGIN(
  {
    .name = "Ring.Record",
    .description = "Records the catch of a ringed bird.",
    .input = "{\"type\":\"object\",\"properties\":{\"ring\":{\"type\":\"string\",\"pattern\":\"^[A-Z]{1,3}[0-9]{4,7}$\"},"
             "\"species\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":60},"
             "\"wing_mm\":{\"type\":\"integer\",\"minimum\":30,\"maximum\":700},"
             "\"tenths_of_gram\":{\"type\":\"integer\",\"minimum\":30,\"maximum\":150000}},"
             "\"required\":[\"ring\",\"species\",\"wing_mm\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"record\",\"ring\",\"caught_at\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .determinism = LATCH_EXTERNAL,
    .handler = record,
    .reconcile = find,
    .verify = check,
    .compensate = take_back,
  },
  {
    .name = "Ring.Show",
    .description = "Shows a record of the station.",
    .input = "{\"type\":\"object\",\"properties\":{\"record\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_:/~-]{1,128}$\"}},"
             "\"required\":[\"record\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\"}",
    .effects = LATCH_READ_ONLY,
    .determinism = LATCH_EXTERNAL,
    .handler = show,
  });
