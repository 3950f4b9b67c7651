#include "latchwork.h"

#include <time.h>
#include <unistd.h>

/* Issues ski passes. A pass is one entry of the map, under the key of the call that issued it. A repeated call finds
   the entry and returns the same pass. */

enum { WRITES = 3 };

/* The entry of a pass, and its version: the entry never changes. */
static char *entry_of(latch_json args, const char *pass, int64_t issued) {
  latch_text entry = { 0 };
  int64_t days = 0;
  latch_json_integer(latch_json_member(args, "days"), &days);
  latch_putf(&entry, "{\"pass\":\"%s\",\"issued\":%lld,\"skier\":", pass, (long long)issued);
  latch_put_string(&entry, latch_json_string(latch_json_member(args, "skier")));
  latch_putf(&entry, ",\"days\":%lld}", (long long)days);
  return entry.bytes;
}

static bool issued(latch_answer *answer, const char *key, const char *entry) {
  latch_put(&answer->result, entry);
  answer->receipt = entry;
  latch_changed(answer, (latch_change){ "pass", key, "create", .version = entry });
  return true;
}

static bool issue(latch_json args, latch_answer *answer) {
  char *skier = latch_json_string(latch_json_member(args, "skier"));
  int64_t days;
  if (!skier || !*skier) return latch_fail(answer, LATCH_INVALID_INPUT, "the skier has no name");
  if (!latch_json_integer(latch_json_member(args, "days"), &days)) return latch_fail(answer, LATCH_INVALID_INPUT, "no days");

  char *key = latch_get_invocation().external_key, *entry;
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (entry) return issued(answer, key, entry);

  unsigned char bytes[10];
  char pass[2 * sizeof bytes + 1];
  if (getentropy(bytes, sizeof bytes) != 0) abort();
  for (size_t i = 0; i < sizeof bytes; i++) snprintf(pass + 2 * i, 3, "%02x", bytes[i]);
  entry = entry_of(args, pass, (int64_t)time(NULL));

  /* The same entry each time, so a write that did arrive is only written again. */
  for (int writes = 1; !latch_kv_set(answer, key, entry); writes++) {
    if (writes > 1) answer->applied_unknown = true;
    if (answer->code != LATCH_DEPENDENCY_UNAVAILABLE || writes == WRITES) return false;
    latch_log(LATCH_WARN, "pass not written, once more: %s", answer->message);
  }
  return issued(answer, key, entry);
}

static const char *check(latch_change change, latch_answer *answer) {
  char *entry;
  if (!latch_kv_get(answer, change.resource_id, &entry)) return NULL;
  if (strcmp(change.operation, "delete") == 0) return entry ? "the pass is there again" : NULL;
  if (!entry) return "the pass is gone";
  return change.version && strcmp(entry, change.version) == 0 ? NULL : "the pass was changed";
}

static bool cancel(latch_json args, latch_json result, const char *key, latch_answer *answer) {
  char *pass = latch_json_string(latch_json_member(result, "pass")), *entry;
  int64_t when;
  if (!pass || !latch_json_integer(latch_json_member(result, "issued"), &when))
    return latch_fail(answer, LATCH_POLICY_DENIED, "the result is not that of a pass");
  if (!latch_kv_get(answer, key, &entry)) return false;
  if (!entry || strcmp(entry, entry_of(args, pass, when)) != 0)
    return latch_fail(answer, LATCH_POLICY_DENIED, "the pass was changed or removed");
  bool was_there;
  if (!latch_kv_delete(answer, key, &was_there)) return false;
  if (!was_there) return latch_fail(answer, LATCH_POLICY_DENIED, "the pass was removed");
  latch_put(&answer->result, "{\"cancelled\":true}");
  latch_changed(answer, (latch_change){ .resource_type = "pass", .resource_id = key, .operation = "delete" });
  return true;
}

LATCH_PLUGIN({
  .name = "Pass.Issue",
  .description = "Issues a ski pass.",
  .input = "{\"type\":\"object\",\"properties\":{\"skier\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":80},"
           "\"days\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":14}},\"required\":[\"skier\",\"days\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"pass\":{\"type\":\"string\"},\"issued\":{\"type\":\"integer\"},"
            "\"skier\":{\"type\":\"string\"},\"days\":{\"type\":\"integer\"}},\"required\":[\"pass\",\"issued\",\"skier\",\"days\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .idempotent_by_key_seconds = 604800,
  .handler = issue,
  .verify = check,
  .compensate = cancel,
});
