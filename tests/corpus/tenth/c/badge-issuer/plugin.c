#include "latchwork.h"

/* Issues visitor badges. A holder who was blocked gets none. */

static char *name_of(const char *kind, const char *of) {
  latch_text name = { 0 };
  latch_putf(&name, "%s/%s", kind, of);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  char *door = latch_json_string(latch_json_member(args, "door"));
  if (!holder || !*holder || !door) return latch_fail(answer, LATCH_INVALID_INPUT, "holder or door is missing");

  char *block = name_of("blocked", holder), *reason;
  if (!latch_kv_get(answer, block, &reason)) return false;
  if (reason) return latch_fail(answer, LATCH_POLICY_DENIED, "%s is blocked: %s", holder, reason);

  latch_text badge = { 0 };
  latch_put(&badge, "{\"holder\":");
  latch_put_string(&badge, holder);
  latch_put(&badge, ",\"door\":");
  latch_put_string(&badge, door);
  latch_put(&badge, "}");
  char *id = name_of("badge", latch_get_invocation().external_key);
  if (!latch_kv_set(answer, id, badge.bytes)) return false;

  /* A block may have come in since. It wins. */
  if (!latch_kv_get(answer, block, &reason)) {
    answer->applied_unknown = true;
    return false;
  }
  if (reason) {
    bool was_there;
    if (!latch_kv_delete(answer, id, &was_there)) latch_log(LATCH_WARN, "badge %s is still there", id);
    return latch_fail(answer, LATCH_POLICY_DENIED, "%s was blocked: %s", holder, reason);
  }
  latch_put(&answer->result, "{\"badge\":");
  latch_put_string(&answer->result, id);
  latch_put(&answer->result, "}");
  return true;
}

static bool block(latch_json args, latch_answer *answer) {
  char *holder = latch_json_string(latch_json_member(args, "holder"));
  char *reason = latch_json_string(latch_json_member(args, "reason"));
  if (!holder || !*holder || !reason) return latch_fail(answer, LATCH_INVALID_INPUT, "holder or reason is missing");
  if (!latch_kv_set(answer, name_of("blocked", holder), reason)) return false;
  latch_put(&answer->result, "{\"blocked\":");
  latch_put_string(&answer->result, holder);
  latch_put(&answer->result, "}");
  return true;
}

#define TEXT(name, max) "\"" name "\":{\"type\":\"string\",\"maxLength\":" max "}"

LATCH_PLUGIN(
    { .name = "Badge.Issue", .description = "Issues a badge for a visitor.", .effects = LATCH_INTERNAL_WRITE,
      .input = "{\"type\":\"object\",\"properties\":{" TEXT("holder", "50") "," TEXT("door", "50") "},\"required\":[\"holder\",\"door\"]}",
      .output = "{\"type\":\"object\",\"required\":[\"badge\"]}", .handler = issue },
    { .name = "Badge.Block", .description = "Blocks a visitor.", .effects = LATCH_INTERNAL_WRITE,
      .input = "{\"type\":\"object\",\"properties\":{" TEXT("holder", "50") "," TEXT("reason", "200") "},\"required\":[\"holder\",\"reason\"]}",
      .output = "{\"type\":\"object\",\"required\":[\"blocked\"]}", .handler = block });
