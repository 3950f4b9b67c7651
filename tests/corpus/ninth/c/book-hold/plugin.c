#include "latchwork.h"

/* Holds of a library. Hold.Place makes a hold, Hold.Reroute sends the book to another branch. A hold is named by the
   key of the call that placed it. */

static bool write_hold(latch_json args, const char *hold, latch_answer *answer) {
  char *title = latch_json_string(latch_json_member(args, "title"));
  char *branch = latch_json_string(latch_json_member(args, "branch"));
  if (!title || !*title) return latch_fail(answer, LATCH_INVALID_INPUT, "the title is missing");
  if (!branch || !*branch) return latch_fail(answer, LATCH_INVALID_INPUT, "the branch is missing");
  latch_text text = { 0 };
  latch_put(&text, "{\"title\":");
  latch_put_string(&text, title);
  latch_put(&text, ",\"branch\":");
  latch_put_string(&text, branch);
  latch_put(&text, "}");
  if (!latch_kv_set(answer, hold, text.bytes)) return false;
  latch_put(&answer->result, "{\"hold\":");
  latch_put_string(&answer->result, hold);
  latch_put(&answer->result, "}");
  return true;
}

static bool place(latch_json args, latch_answer *answer) {
  char *key = latch_get_invocation().external_key;
  if (!write_hold(args, key, answer)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "hold", .resource_id = key, .operation = "create" });
  return true;
}

static bool reroute(latch_json args, latch_answer *answer) {
  char *hold = latch_json_string(latch_json_member(args, "hold"));
  if (!hold || strncmp(hold, "latch:", 6) != 0) return latch_fail(answer, LATCH_INVALID_INPUT, "the hold is missing");
  if (!write_hold(args, hold, answer)) return false;
  latch_changed(answer, (latch_change){ .resource_type = "hold", .resource_id = hold, .operation = "update" });
  return true;
}

static bool release(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  (void)args, (void)result;
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the hold is no longer there");
  latch_changed(answer, (latch_change){ .resource_type = "hold", .resource_id = key, .operation = "delete" });
  return true;
}

#define BOOK "\"title\":{\"type\":\"string\",\"maxLength\":200},\"branch\":{\"type\":\"string\",\"maxLength\":60}"
#define HOLD "{\"type\":\"object\",\"properties\":{\"hold\":{\"type\":\"string\"}},\"required\":[\"hold\"]}"

LATCH_PLUGIN({
  .name = "Hold.Place",
  .description = "Places a hold on a book.",
  .input = "{\"type\":\"object\",\"properties\":{" BOOK "},\"required\":[\"title\",\"branch\"],\"additionalProperties\":false}",
  .output = HOLD,
  .effects = LATCH_INTERNAL_WRITE,
  .handler = place,
  .compensate = release,
}, {
  .name = "Hold.Reroute",
  .description = "Sends the book of a hold to another branch.",
  .input = "{\"type\":\"object\",\"properties\":{\"hold\":{\"type\":\"string\",\"maxLength\":200}," BOOK "},"
           "\"required\":[\"hold\",\"title\",\"branch\"],\"additionalProperties\":false}",
  .output = HOLD,
  .effects = LATCH_INTERNAL_WRITE,
  .handler = reroute,
});
