/* Guest badges of an office: issue, look up at the door, and revoke. The number of a badge is the key of its call. */
#include "latchwork.h"

static char *entry(const char *badge) {
  latch_text name = { 0 };
  latch_putf(&name, "badge:%s", badge);
  return name.bytes;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *guest = latch_json_string(latch_json_member(args, "guest"));
  char *zone = latch_json_string(latch_json_member(args, "zone"));
  if (!guest || !*guest) return latch_fail(answer, LATCH_INVALID_INPUT, "the guest has no name");
  if (!zone || !*zone) return latch_fail(answer, LATCH_INVALID_INPUT, "the zone is missing");
  latch_text badge = { 0 };
  latch_put(&badge, "{\"guest\":");
  latch_put_string(&badge, guest);
  latch_put(&badge, ",\"zone\":");
  latch_put_string(&badge, zone);
  latch_put(&badge, "}");
  /* The same call writes the same entry. */
  char *key = latch_get_invocation().external_key;
  if (!latch_kv_set(answer, entry(key), badge.bytes)) return false;
  latch_put(&answer->result, "{\"badge\":");
  latch_put_string(&answer->result, key);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "badge", .resource_id = key, .operation = "create" });
  return true;
}

static bool look_up(latch_json args, latch_answer *answer) {
  char *badge = latch_json_string(latch_json_member(args, "badge"));
  char *found;
  if (!badge || !*badge) return latch_fail(answer, LATCH_INVALID_INPUT, "the badge is missing");
  if (!latch_kv_get(answer, entry(badge), &found)) return false;
  latch_putf(&answer->result, "{\"open\":%s,\"badge\":%s}", found ? "true" : "false", found ? found : "null");
  return true;
}

static bool revoke(latch_json args, latch_answer *answer) {
  char *badge = latch_json_string(latch_json_member(args, "badge"));
  bool was_there;
  if (!badge || !*badge) return latch_fail(answer, LATCH_INVALID_INPUT, "the badge is missing");
  if (!latch_kv_delete(answer, entry(badge), &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "badge %s is not valid", badge);
  latch_put(&answer->result, "{\"revoked\":");
  latch_put_string(&answer->result, badge);
  latch_put(&answer->result, "}");
  latch_changed(answer, (latch_change){ .resource_type = "badge", .resource_id = badge, .operation = "delete" });
  return true;
}

#define ONE_BADGE                                                                             \
  "{\"type\":\"object\",\"properties\":{\"badge\":{\"type\":\"string\",\"maxLength\":200}}," \
  "\"required\":[\"badge\"],\"additionalProperties\":false}"

LATCH_PLUGIN(
  {
    .name = "Badge.Issue",
    .description = "Issues a badge with which a guest can open the doors of a zone.",
    .input = "{\"type\":\"object\",\"properties\":{\"guest\":{\"type\":\"string\"},\"zone\":{\"type\":\"string\"}},"
             "\"required\":[\"guest\",\"zone\"],\"additionalProperties\":false}",
    .output = "{\"type\":\"object\",\"required\":[\"badge\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .idempotent_by_key_seconds = 24 * 60 * 60,
    .handler = issue,
  },
  {
    .name = "Badge.Check",
    .description = "Finds out whether a badge opens the door.",
    .input = ONE_BADGE,
    .output = "{\"type\":\"object\",\"required\":[\"open\",\"badge\"]}",
    .effects = LATCH_READ_ONLY,
    .handler = look_up,
  },
  {
    .name = "Badge.Revoke",
    .description = "Makes a badge invalid.",
    .input = ONE_BADGE,
    .output = "{\"type\":\"object\",\"required\":[\"revoked\"]}",
    .effects = LATCH_INTERNAL_WRITE,
    .handler = revoke,
  }
);
