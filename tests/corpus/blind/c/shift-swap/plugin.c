#include "latchwork.h"

/* The entry of a shift is "KEY HOLDER": the call that wrote it, and the person. */
static bool said(const char *shift, const char *holder, const char *before, const char *key, latch_answer *answer) {
  latch_put(&answer->result, "{\"shift\":");
  latch_put_string(&answer->result, shift);
  latch_put(&answer->result, ",\"holder\":");
  latch_put_string(&answer->result, holder);
  latch_put(&answer->result, ",\"before\":");
  latch_put_string(&answer->result, before);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ "shift", shift, "update", .version = key });
  return true;
}

static bool give(latch_json args, latch_answer *answer) {
  char *shift = latch_json_string(latch_json_member(args, "shift"));
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  if (!shift || !holder || !*shift) return latch_fail(answer, LATCH_INVALID_INPUT, "shift or holder is missing");
  char *key = latch_get_invocation().external_key, *old;
  if (!latch_kv_get(answer, shift, &old)) return false;
  const char *space = old ? strchr(old, ' ') : NULL;
  latch_text entry = { 0 };
  latch_putf(&entry, "%s %s", key, holder);
  if (!latch_kv_set(answer, shift, entry.bytes)) return false;
  return said(shift, holder, space ? space + 1 : "", key, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  char *shift = latch_json_string(latch_json_member(args, "shift")), *entry;
  if (!latch_kv_get(answer, shift, &entry)) return LATCH_UNKNOWN;
  size_t len = strlen(key);
  if (!entry || strncmp(entry, key, len) != 0 || entry[len] != ' ') return entry ? LATCH_UNKNOWN : LATCH_DID_NOT_HAPPEN;
  said(shift, entry + len + 1, "", key, answer);
  return LATCH_HAPPENED;
}

LATCH_PLUGIN({
  .name = "ShiftSwap.Give",
  .description = "Gives a shift to a person.",
  .input = "{\"type\":\"object\",\"properties\":{\"shift\":{\"type\":\"string\",\"minLength\":1},\"holder\":{\"type\":\"string\"}},"
           "\"required\":[\"shift\",\"holder\"]}",
  .output = "{\"type\":\"object\",\"required\":[\"shift\",\"holder\",\"before\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .handler = give,
  .reconcile = find,
});
