#include "latchwork.h"

#include <time.h>

/* Books a hall of the community centre. Each booking is an entry under the key of its call, so a repeated call writes
 * the same entry. Bookings that overlap are sorted out by the caretaker. */

static char *booking_key(const char *key) {
  latch_text id = { 0 };
  latch_putf(&id, "booking/%s", key);
  return id.bytes;
}

static char *booking_text(const char *hall, const char *group, int64_t starts_at, int64_t minutes) {
  latch_text text = { 0 };
  latch_put(&text, "{\"hall\":");
  latch_put_string(&text, hall);
  latch_put(&text, ",\"group\":");
  latch_put_string(&text, group);
  latch_putf(&text, ",\"starts_at\":%lld,\"minutes\":%lld}", (long long)starts_at, (long long)minutes);
  return text.bytes;
}

/* Returns the entry of the booking, or NULL if an argument is missing. */
static char *wanted(latch_json args, int64_t *starts_at) {
  char *hall = latch_json_string(latch_json_member(args, "hall"));
  char *group = latch_json_string(latch_json_member(args, "group"));
  int64_t minutes;
  if (!hall || !group || !latch_json_integer(latch_json_member(args, "starts_at"), starts_at) ||
      !latch_json_integer(latch_json_member(args, "minutes"), &minutes))
    return NULL;
  return booking_text(hall, group, *starts_at, minutes);
}

static bool book(latch_json args, latch_answer *answer) {
  int64_t starts_at;
  char *text = wanted(args, &starts_at);
  if (!text) return latch_fail(answer, LATCH_INVALID_INPUT, "hall, group, starts_at or minutes is missing");
  if (starts_at <= (int64_t)time(NULL)) return latch_fail(answer, LATCH_INVALID_INPUT, "the booking starts in the past");

  char *key = latch_get_invocation().external_key, *id = booking_key(key), *found;
  if (!latch_kv_get(answer, id, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found && !latch_kv_set(answer, id, text)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "booking", .resource_id = id, .operation = "create", .version = text });
  latch_put(&answer->result, "{\"booking\":");
  latch_put_string(&answer->result, id);
  latch_putf(&answer->result, ",\"starts_at\":%lld}", (long long)starts_at);
  return true;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the booking is missing";
  return change.version && strcmp(found, change.version) == 0 ? NULL : "the booking was changed";
}

static bool cancel(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)result;
  int64_t starts_at;
  char *text = wanted(args, &starts_at), *id = booking_key(key), *found;
  bool was_there;
  if (!latch_kv_get(answer, id, &found)) {
    answer->applied_unknown = false;
    return false;
  }
  if (!found || !text || strcmp(found, text) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the booking was changed or removed");
  if (!latch_kv_delete(answer, id, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the booking was removed");
  latch_changed(answer, (latch_change){ .resource_type = "booking", .resource_id = id, .operation = "delete" });
  latch_put(&answer->result, "{\"cancelled\":true}");
  return true;
}

LATCH_PLUGIN({
  .name = "Hall.Book",
  .description = "Books a hall for a group.",
  .input = "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"hall\",\"group\",\"starts_at\",\"minutes\"],"
           "\"properties\":{\"hall\":{\"type\":\"string\",\"enum\":[\"large\",\"small\",\"kitchen\"]},"
           "\"group\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":100},"
           "\"starts_at\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":9999999999},"
           "\"minutes\":{\"type\":\"integer\",\"minimum\":15,\"maximum\":1440}}}",
  .output = "{\"type\":\"object\",\"required\":[\"booking\",\"starts_at\"],\"properties\":{"
            "\"booking\":{\"type\":\"string\"},\"starts_at\":{\"type\":\"integer\"}}}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .idempotent_by_key_seconds = 172800,
  .handler = book,
  .verify = check,
  .compensate = cancel,
});
