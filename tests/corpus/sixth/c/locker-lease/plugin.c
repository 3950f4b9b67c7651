/* Leases a locker with a random code. Code and time are kept under the key of the call, and every answer is made from
 * the kept entry: "CODE TIME LOCKER". */
#include "latchwork.h"

#include <time.h>
#include <unistd.h>

static bool leased(const char *key, const char *entry, latch_answer *answer) {
  char *copy = strdup(entry), *code = strtok(copy, " "), *at = strtok(NULL, " ");
  if (!code || !at) return latch_fail(answer, LATCH_DEPENDENCY_UNAVAILABLE, "the entry of the lease is not readable");
  latch_putf(&answer->result, "{\"code\":\"%s\",\"since\":%s}", code, at);
  latch_text receipt = { 0 };
  latch_putf(&receipt, "{\"since\":%s}", at);
  answer->receipt = receipt.bytes;
  latch_changed(answer, (latch_change){ "lease", key, "create", .version = at });
  return true;
}

static bool lease(latch_json args, latch_answer *answer) {
  int64_t locker;
  if (!latch_json_integer(latch_json_member(args, "locker"), &locker))
    return latch_fail(answer, LATCH_INVALID_INPUT, "locker is missing");
  char *key = latch_get_invocation().external_key, *found;
  if (!latch_kv_get(answer, key, &found)) return false;
  if (found) return leased(key, found, answer);
  uint32_t random;
  if (getentropy(&random, sizeof random) != 0)
    return latch_fail(answer, LATCH_MISSING_REQUIRED_CONTEXT, "no random numbers");
  latch_text entry = { 0 };
  latch_putf(&entry, "%06u %lld %lld", random % 1000000, (long long)time(NULL), (long long)locker);
  return latch_kv_set(answer, key, entry.bytes) && leased(key, entry.bytes, answer);
}

static latch_verdict find(latch_json args, const char *key, latch_answer *answer) {
  (void)args;
  char *found;
  if (!latch_kv_get(answer, key, &found)) return LATCH_UNKNOWN;
  if (!found) return LATCH_DID_NOT_HAPPEN;
  return leased(key, found, answer) ? LATCH_HAPPENED : LATCH_UNKNOWN;
}

static const char *check(latch_change change, latch_answer *answer) {
  char *found;
  if (!latch_kv_get(answer, change.resource_id, &found)) return NULL;
  if (!found) return "the lease is missing";
  char *at = strchr(found, ' ');
  size_t len = change.version ? strlen(change.version) : 0;
  bool same = at && len && strncmp(at + 1, change.version, len) == 0 && at[1 + len] == ' ';
  return same ? NULL : "another lease was found";
}

LATCH_PLUGIN({
  .name = "Locker.Lease",
  .description = "Leases a locker with a random code.",
  .input = "{\"type\":\"object\",\"properties\":{\"locker\":{\"type\":\"integer\"}},"
           "\"required\":[\"locker\"],\"additionalProperties\":false}",
  .output = "{\"type\":\"object\",\"properties\":{\"code\":{\"type\":\"string\"},\"since\":{\"type\":\"integer\"}},"
            "\"required\":[\"code\",\"since\"]}",
  .effects = LATCH_INTERNAL_WRITE,
  .determinism = LATCH_EXTERNAL,
  .handler = lease,
  .reconcile = find,
  .verify = check,
});
