/* Deposit.Keep and Deposit.Show: slips for things that a museum takes into deposit. */
#include "latchwork.h"

static char *note_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "note/%s", key);
  return name.bytes;
}

static char *slip_name(const char *key) {
  latch_text name = { 0 };
  latch_putf(&name, "slip/%s", key);
  return name.bytes;
}

static char *slip_of(latch_json args) {
  latch_text slip = { 0 };
  latch_put(&slip, "{\"owner\":");
  latch_put_string(&slip, latch_json_string(latch_json_member(args, "owner")));
  latch_put(&slip, ",\"item\":");
  latch_put_string(&slip, latch_json_string(latch_json_member(args, "item")));
  latch_put(&slip, "}");
  return slip.bytes;
}

/* The answer for a deposit whose slip is written. */
static bool kept(const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"deposit\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "deposit", .resource_id = key, .operation = "create" });
  return true;
}

/* Writes the long note first. The slip makes the deposit known. */
static bool keep(latch_json args, latch_answer *answer) {
  char *owner = latch_json_string(latch_json_member(args, "owner"));
  char *item = latch_json_string(latch_json_member(args, "item"));
  char *note = latch_json_string(latch_json_member(args, "note"));
  if (!owner || !*owner || !item || !*item || !note)
    return latch_fail(answer, LATCH_INVALID_INPUT, "the owner, the item or the note is missing");
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, note_name(key), note)) return false;
  if (!latch_kv_set(answer, slip_name(key), slip_of(args))) {
    answer->applied_unknown = true;
    return false;
  }
  return kept(key, answer);
}

/* Called after a crash: finds out whether the deposit is known. */
static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *slip;
  if (!latch_kv_get(answer, slip_name(key), &slip)) return LATCH_UNKNOWN;
  if (!slip) return LATCH_DID_NOT_HAPPEN;
  kept(key, answer);
  return LATCH_HAPPENED;
}

/* Called when the job is cancelled or undone. */
static bool hand_back(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  char *slip, *note, *given = latch_json_string(latch_json_member(args, "note"));
  bool had_slip, had_note;
  if (!latch_kv_get(answer, slip_name(key), &slip) || !latch_kv_get(answer, note_name(key), &note)) return false;
  if (!slip || strcmp(slip, slip_of(args)) != 0 || !note || strcmp(note, given) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the deposit was changed or handed back");
  if (!latch_kv_delete(answer, slip_name(key), &had_slip)) return false;
  if (!had_slip) return latch_fail(answer, LATCH_POLICY_DENIED, "the deposit was handed back");
  if (!latch_kv_delete(answer, note_name(key), &had_note) ||
      (!had_note && !latch_fail(answer, LATCH_POLICY_DENIED, "the note of the deposit is missing"))) {
    answer->applied_unknown = true;
    return false;
  }
  latch_changed(answer, (latch_change){ .resource_type = "deposit", .resource_id = key, .operation = "delete" });
  return true;
}

static bool show(latch_json args, latch_answer *answer) {
  char *key = latch_json_string(latch_json_member(args, "deposit"));
  char *slip, *note;
  if (!key || !*key) return latch_fail(answer, LATCH_INVALID_INPUT, "the key of the deposit is empty");
  if (!latch_kv_get(answer, slip_name(key), &slip)) return false;
  if (!slip) return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "there is no deposit %s", key);
  if (!latch_kv_get(answer, note_name(key), &note)) return false;
  latch_putf(&answer->result, "{\"slip\":%s,\"note\":", slip);
  latch_put_string(&answer->result, note ? note : "");
  latch_put(&answer->result, "}");
  return true;
}

LATCH_PLUGIN(
  { .name = "Deposit.Keep",
    .description = "Writes the slip of a deposit.",
    .input = "{\"type\":\"object\",\"required\":[\"owner\",\"item\",\"note\"],\"properties\":{"
             "\"owner\":{\"type\":\"string\",\"maxLength\":100},\"item\":{\"type\":\"string\",\"maxLength\":200},"
             "\"note\":{\"type\":\"string\",\"maxLength\":10000}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"deposit\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = keep,
    .reconcile = find,
    .compensate = hand_back },
  { .name = "Deposit.Show",
    .description = "Shows the slip of a deposit.",
    .input = "{\"type\":\"object\",\"required\":[\"deposit\"],\"properties\":{"
             "\"deposit\":{\"type\":\"string\",\"maxLength\":128}},\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"slip\",\"note\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = show }
);
